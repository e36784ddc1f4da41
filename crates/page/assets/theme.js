// Sets the theme before the first paint, so that a dark page never flashes white. Not a module:
// modules run after the page was drawn.
(function () {
  try {
    var theme = localStorage.getItem("conclave.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch (blocked) {
    // Storage may be forbidden: then the system's theme it is.
  }
})();
