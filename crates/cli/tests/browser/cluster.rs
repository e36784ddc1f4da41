//! The cluster, live: real nodes under `conclave up`, which serves the page.

use crate::axe;
use crate::chromium::Browser;
use crate::cluster_process::{Place, Running, Up};
use crate::views;
use crate::webdriver::key;
use serde_json::{Value, json};

const VIEW: [(&str, &str); 1] = [("/cluster", ".nodes .node[data-leads]")];
/// A browser has six connections to a server; a stream in each tab would leave none for the rest.
const TABS: usize = 8;
/// What a careless page would run.
const LABEL: &str = "<img src=x onerror=\"document.title='run'\">";

#[test]
fn a_cluster_is_watched_and_broken_through_the_page() {
    let Some(browser) = Browser::new() else { return };
    let place = Place::new("browser");
    let up = Up::bare(&place, &["--nodes", "3"]);
    browser.resize(1920, 1080);
    browser.go(&format!("{}/#token={}", up.page, up.token));
    browser.until("a leader", "return document.querySelector('.node[data-leads]');");
    let address = browser.run("return location.href;", &[]);
    assert!(!address.as_str().unwrap().contains("token"), "{address}");
    a_lock_comes_and_goes(&browser, &place);
    on_a_telephone_a_name_has_a_line_of_its_own(&browser, &place);
    a_lock_is_taken_away_by_force(&browser, &place);
    eight_tabs_are_live(&browser, &place, &up.page);
    browser.assert_calm("the cluster");
    killing_the_leader_changes_who_leads(&browser);
    a_paused_node_is_named_within_seconds(&browser);
    drop(up);
    browser.until(
        "a banner without anybody to ask",
        "return document.querySelector('.cluster-banner .notice.bad');",
    );
    browser.assert_no_mistake("a cluster that is gone");
}

#[test]
fn the_view_of_the_cluster_is_calm_and_has_no_barriers() {
    let Some(browser) = Browser::new() else { return };
    let place = Place::new("browser-views");
    let up = Up::bare(&place, &["--nodes", "3"]);
    let _held = hold(&place, "orders", "somebody");
    let source = axe::source();
    views::each(&browser, &up.page, &VIEW, |name| {
        browser.assert_calm(name);
        axe::assert_none(&browser, source.as_deref(), name);
    });
}

/// Somebody who holds a lock until this is dropped.
fn hold(place: &Place, lock: &str, label: &str) -> Running {
    let typed = ["lock", lock, "--label", label, "--", "sh", "-c", "echo inside; read never"];
    let mut command = place.command(&typed);
    command.stdin(std::process::Stdio::piped());
    let mut running = Running::start(place, command);
    running.wait_for("inside");
    running
}

/// Lets it go, as a command does that ends.
fn release(mut held: Running) {
    drop(held.child.stdin.take());
    held.code();
}

/// The row of a lock, as a condition for its presence or absence.
fn row(lock: &str) -> String {
    format!(
        "[...document.querySelectorAll('.locks tbody tr')].find((row) =>
            row.querySelector('.name-link').textContent === {})",
        json!(lock)
    )
}

fn a_lock_comes_and_goes(browser: &Browser, place: &Place) {
    let held = hold(place, "orders/7", LABEL);
    let shown = browser.until("the lock", &format!("return {}?.textContent;", row("orders/7")));
    assert!(shown.as_str().unwrap().contains(LABEL), "{shown}");
    let tell = "return [...document.querySelectorAll('.cluster *')].some((one) =>
        one.children.length === 0 && one.textContent.includes('onerror'))
        && !document.querySelector('img') && document.title !== 'run';";
    browser.until("the label as text", tell);
    browser.run(&format!("{}.querySelector('.name-link').click();", row("orders/7")), &[]);
    browser.until(
        "the lock in detail",
        "return document.querySelector('dialog.lock-detail')?.textContent.includes('onerror')
            && !document.querySelector('img');",
    );
    browser.run("document.querySelector('dialog').close();", &[]);
    release(held);
    let gone = format!("return !({0}) || !{0}.textContent.includes('onerror');", row("orders/7"));
    browser.until("the lock let go", &gone);
}

fn on_a_telephone_a_name_has_a_line_of_its_own(browser: &Browser, place: &Place) {
    let name = "reports/of/the/whole/night";
    let held = hold(place, name, "billing");
    browser.resize(390, 844);
    let script = format!(
        "const row = {};
         const [name, holder] = ['.name-link', 'td'].map((part) =>
             row?.querySelector(part).getBoundingClientRect());
         return row && name.height < 30 && holder.top > name.bottom - 1
             && document.documentElement.scrollWidth === innerWidth;",
        row(name)
    );
    browser.until("a name that is not broken", &script);
    browser.resize(1920, 1080);
    release(held);
}

/// Behind two dialogs and with a reason; whoever holds it is not asked.
fn a_lock_is_taken_away_by_force(browser: &Browser, place: &Place) {
    let held = hold(place, "stuck", "asleep");
    let link = format!("return {}?.querySelector('.name-link');", row("stuck"));
    browser.until("the lock", &link);
    browser.run(&format!("{}.querySelector('.name-link').click();", row("stuck")), &[]);
    browser.click("dialog.lock-detail .danger:not([disabled])");
    let form = "document.querySelector('form.force')";
    browser.until("the second dialog", &format!("return {form};"));
    browser.click("form.force .danger");
    let refused = browser.run(&format!("return {form}.checkValidity();"), &[]);
    assert_eq!(refused, json!(false), "not without a reason");
    browser.run(&format!("{form}.querySelector('input').value = 'nobody answers';"), &[]);
    browser.click("form.force input[type=checkbox]");
    browser.click("form.force .danger");
    let gone = format!("return !({0}) || !{0}.textContent.includes('asleep');", row("stuck"));
    browser.until("the lock without its holder", &gone);
    browser.until("the dialog gone", "return !document.querySelector('form.force');");
    let told = "return document.querySelector('.cluster-events').textContent;";
    let told = browser.run(told, &[]);
    assert!(told.as_str().unwrap().contains("stuck"), "{told}");
    browser.run("document.querySelector('dialog')?.close();", &[]);
    drop(held);
}

/// What the nodes of a classic engine did for a lock is played and judged, one click away.
#[test]
fn a_lock_of_a_classic_engine_is_followed_into_the_lab() {
    let Some(browser) = Browser::new() else { return };
    let place = Place::new("browser-live");
    let recorded = place.path("recorded");
    let engine = ["--engine", "ricart-agrawala", "--nodes", "3", "--record", &recorded];
    let up = Up::bare(&place, &engine);
    browser.resize(1920, 1080);
    for _ in 0..2 {
        release(hold(&place, "orders", "somebody"));
    }
    let held = hold(&place, "orders", "somebody");
    browser.go(&format!("{}/#token={}", up.page, up.token));
    browser.until("the lock", &format!("return {};", row("orders")));
    browser.run(&format!("{}.querySelector('.name-link').click();", row("orders")), &[]);
    browser.click("dialog.lock-detail a.button");
    browser.until(
        "the recording, played",
        "return location.pathname === '/lab' && document.querySelectorAll('.topology .node')
            .length === 3 && document.querySelector('.lab').getAttribute('aria-busy') !== 'true';",
    );
    let title = browser.run("return document.querySelector('.lab-title').textContent;", &[]);
    assert_eq!(title, json!("orders"));
    browser.press(&[key::END]);
    let judged = "return document.querySelector('[data-property=S1]')?.dataset.state === 'kept'
        && [...document.querySelectorAll('.list-lines .line-text')].some((line) =>
            /ENTERS|leaves|REQUEST|OK/.test(line.textContent));";
    browser.until("what happened, judged", judged);
    browser.assert_calm("a live recording");
    drop(held);
    // Of this one, nothing is on a disk yet.
    let _fresh = hold(&place, "fresh", "somebody");
    browser.run("location.hash = 'recording=up&lock=fresh';", &[]);
    let shown = "return document.querySelector('.lab-title')?.textContent === 'fresh'
        && document.querySelectorAll('.topology .node').length === 3;";
    browser.until("a lock that was taken a moment ago", shown);
}

fn eight_tabs_are_live(browser: &Browser, place: &Place, page: &str) {
    let first = browser.tab();
    let mut tabs = vec![first.clone()];
    while tabs.len() < TABS {
        tabs.push(browser.new_tab());
        browser.go(&format!("{page}/cluster"));
        browser.until("a leader", "return document.querySelector('.node[data-leads]');");
    }
    let held = hold(place, "seen-by-all", "one of eight");
    for tab in &tabs {
        browser.look_at(tab);
        browser.until("the lock, in each tab", &format!("return {};", row("seen-by-all")));
        browser.until(
            "its event, in each tab",
            "return document.querySelector('.cluster').textContent.includes('seen-by-all')
                && document.querySelector('.cluster-events')?.textContent.includes('seen-by-all');",
        );
    }
    release(held);
    for tab in &tabs[1..] {
        browser.look_at(tab);
        browser.assert_calm("a tab of eight");
        browser.close_tab();
    }
    browser.look_at(&first);
}

fn leader(browser: &Browser) -> Value {
    browser.until(
        "one leader",
        "const leaders = document.querySelectorAll('.node[data-leads]');
         return leaders.length === 1 && leaders[0].querySelector('h3').textContent;",
    )
}

fn killing_the_leader_changes_who_leads(browser: &Browser) {
    let before = leader(browser);
    browser.click(".node[data-leads] button[data-action='kill']");
    let script = format!(
        "const leads = document.querySelector('.node[data-leads] h3')?.textContent;
         const figure = document.querySelector('.figures dd')?.textContent;
         return leads && leads !== {before} && figure === leads && leads;"
    );
    let after = browser.until("another leader", &script);
    assert_ne!(before, after);
    browser.until(
        "the killed node, named",
        "return document.querySelector('.cluster-banner .notice')
            && document.querySelector('.node[data-state=killed]');",
    );
    browser.click(".node[data-state=killed] button[data-action='restart']");
    browser.until(
        "all three well again",
        "const well = document.querySelectorAll('.node[data-state=running]:not([data-stale])');
         return well.length === 3 && !document.querySelector('.cluster-banner .notice');",
    );
}

fn a_paused_node_is_named_within_seconds(browser: &Browser) {
    browser.click(".node:not([data-leads]) button[data-action='pause']");
    browser.until(
        "the paused node, named and greyed",
        "return document.querySelector('.cluster-banner .notice')
            && document.querySelector('.node[data-state=paused][data-stale]');",
    );
    browser.click(".node[data-state=paused] button[data-action='resume']");
    browser.until("all well again", "return !document.querySelector('.cluster-banner .notice');");
}
