//! Every view in both languages, both themes, on a telephone and on a large screen.

use crate::axe;
use crate::chromium::Browser;
use crate::lab::Server;
use serde_json::json;

/// Its address, and what shows that it is there.
pub const LAB_VIEWS: [(&str, &str); 5] = [
    ("/lab", ".front .tile"),
    ("/lab#v=1&a=lamport&n=7&at=/60", ".lab .list-lines [data-i]"),
    ("/compare", ".view-compare tbody tr"),
    ("/scenarios", ".view-scenarios article, .view-scenarios li"),
    ("/algorithms", ".view-algorithms article, .view-algorithms li"),
];
const SIZES: [(u64, u64); 2] = [(390, 844), (1920, 1080)];
const THEMES: [&str; 2] = ["light", "dark"];

/// Goes through all of them, and looks at each.
pub fn each(browser: &Browser, origin: &str, views: &[(&str, &str)], look: impl Fn(&str)) {
    for (width, height) in SIZES {
        browser.resize(width, height);
        for (view, sign) in views {
            browser.go("about:blank"); // Else only the fragment may change.
            browser.go(&format!("{origin}{view}"));
            // Before that, the page has not yet chosen its language.
            let drawn = format!("return document.querySelector({}) !== null;", json!(sign));
            browser.until(sign, &drawn);
            for language in ["en", "pt-BR"] {
                if browser.run("return document.documentElement.lang;", &[]) != json!(language) {
                    browser.click("#language");
                }
                for theme in THEMES {
                    browser.prefer(theme, "no-preference");
                    ready(browser, sign, language);
                    let now = browser.run("return innerWidth;", &[]);
                    let name = format!("{view} in {language}, {theme}, {width}");
                    assert_eq!(now, json!(width), "{name} is wider than the screen");
                    look(&name);
                }
            }
        }
    }
}

/// Waits until the view is there, in its language, and asks nothing more.
fn ready(browser: &Browser, sign: &str, language: &str) {
    let script = format!(
        "return document.documentElement.lang === {} && document.querySelector({})
            && !document.querySelector('main > .waiting, progress')
            && !document.querySelector('main [aria-busy=\"true\"], main [role=\"status\"]');",
        json!(language),
        json!(sign)
    );
    browser.until(&format!("{sign} in {language}"), &script);
}

#[test]
fn every_view_of_the_lab_is_calm_and_has_no_serious_barrier() {
    let Some(browser) = Browser::new() else { return };
    let server = Server::start("views");
    let source = axe::source();
    each(&browser, &server.origin, &LAB_VIEWS, |name| {
        let others = browser.run(
            "return performance.getEntriesByType('resource').map(({ name }) => name)
                .filter((name) => !name.startsWith(location.origin));",
            &[],
        );
        assert_eq!(others, json!([]), "{name} asks somebody else");
        let cut_off = browser.run(
            "const all = document.querySelector('.topology')?.getBoundingClientRect();
             return [...document.querySelectorAll('.topology text')].filter((words) => {
                 const { left, right, top, bottom } = words.getBoundingClientRect();
                 return left < all.left || right > all.right || top < all.top
                     || bottom > all.bottom;
             }).map((words) => words.textContent);",
            &[],
        );
        assert_eq!(cut_off, json!([]), "{name} cuts words off");
        browser.assert_calm(name);
        axe::assert_none(&browser, source.as_deref(), name);
    });
}
