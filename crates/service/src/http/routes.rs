//! Every route, once: the router and the OpenAPI document are made of this table.

use super::problem::Problem;
use super::route_table::table;
use super::{Api, access, authorize};
use crate::rights::Right;
use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::MethodRouter;
use conclave_api::Code;
use conclave_page::{Page, with_headers};

/// Answers without asking anybody.
pub const LIVES: &str = "/healthz";

/// One route.
pub struct Route {
    /// In lower case, as OpenAPI has it.
    pub method: &'static str,
    /// With its parameters in braces.
    pub path: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// What it reads of a request's body.
    pub takes: Takes,
    /// What it answers when all goes well.
    pub gives: Gives,
    /// The codes of its refusals, but for those that many routes have: see [`Route::refusals`].
    pub refuses: &'static [Code],
    /// What else it reads: in the query, or in headers.
    pub also: &'static [Parameter],
    /// Refusals with another status than that of their code.
    pub odd: &'static [(u16, Code)],
    /// Whether only the replicated engine has it.
    pub replicated: bool,
    /// Who may use it.
    pub need: Need,
    /// What serves it.
    pub handler: MethodRouter<Api>,
    /// Whether it is served even when there is hardly room for another connection.
    pub urgent: bool,
}

/// Who may use a route, where it matters who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Everybody.
    Nothing,
    /// Whoever is known: what it then sees or does is its own, or looked at more closely.
    Known,
    /// Whoever may do this with the name in the path.
    Named(Right),
    /// Whoever may do this with all names.
    All(Right),
    /// Whoever may read the metrics.
    Metrics,
}

impl Need {
    /// Whether even where nobody has to say who asks it takes the admin token.
    pub fn is_admin(self) -> bool {
        matches!(self, Self::Named(Right::Admin) | Self::All(Right::Admin))
    }
}

/// Something that a route reads beside its path and its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// `query` or `header`.
    pub place: &'static str,
    /// Its schema, by name, or `boolean`.
    pub schema: &'static str,
}

impl Parameter {
    /// In the query.
    pub const fn query(name: &'static str, schema: &'static str) -> Self {
        Self { name, place: "query", schema }
    }

    /// In a header.
    pub const fn header(name: &'static str, schema: &'static str) -> Self {
        Self { name, place: "header", schema }
    }
}

/// What a route reads of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it has none.
    Nothing,
    /// All of it, to no purpose.
    Ignored,
    /// JSON of this schema.
    Json(&'static str),
    /// JSON of this schema, or nothing.
    Maybe(&'static str),
}

/// What a route answers when all goes well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// JSON of this schema.
    Json(&'static str),
    /// JSON of any kind.
    AnyJson,
    /// Text.
    Text,
    /// Server-sent events with data of this schema.
    Stream(&'static str),
    /// Bytes.
    Bytes,
    /// A status and no more.
    Nothing,
}

impl Route {
    pub(super) fn new(
        method: &'static str,
        path: &'static str,
        handler: MethodRouter<Api>,
        summary: &'static str,
    ) -> Self {
        let takes = Takes::Nothing;
        let gives = Gives::Nothing;
        Self {
            method,
            path,
            summary,
            takes,
            gives,
            refuses: &[],
            also: &[],
            odd: &[],
            replicated: false,
            need: Need::Known,
            handler,
            urgent: false,
        }
    }

    pub(super) fn takes(self, schema: &'static str) -> Self {
        Self { takes: Takes::Json(schema), ..self }
    }

    pub(super) fn reads(self, takes: Takes) -> Self {
        Self { takes, ..self }
    }

    pub(super) fn gives(self, schema: &'static str) -> Self {
        Self { gives: Gives::Json(schema), ..self }
    }

    pub(super) fn answers(self, gives: Gives) -> Self {
        Self { gives, ..self }
    }

    pub(super) fn refuses(self, refuses: &'static [Code]) -> Self {
        Self { refuses, ..self }
    }

    pub(super) fn reads_also(self, also: &'static [Parameter]) -> Self {
        Self { also, ..self }
    }

    /// Its request may have a number, by which it is repeated, or withdrawn before it comes.
    pub(super) fn numbered(self) -> Self {
        let odd = &[
            (409, Code::Withdrawn),
            (410, Code::Conflict),
            (422, Code::Conflict),
            (422, Code::BadRequest),
        ];
        Self { odd, ..self }
    }

    /// It opens a session: so does its repeat, but not another request with the same id.
    pub(super) fn opens(self) -> Self {
        Self { odd: &[(422, Code::Conflict)], ..self }
    }

    pub(super) fn replicated(self) -> Self {
        Self { replicated: true, ..self }
    }

    /// Whoever uses it must be allowed to do this with the name in its path.
    pub(super) fn needs(self, right: Right) -> Self {
        Self { need: Need::Named(right), ..self }
    }

    /// It is for those who may do this with all names.
    pub(super) fn needs_all(self, right: Right) -> Self {
        Self { need: Need::All(right), ..self }
    }

    /// It is for those who watch the node.
    pub(super) fn needs_metrics(self) -> Self {
        Self { need: Need::Metrics, ..self }
    }

    /// It is for everybody.
    pub(super) fn free(self) -> Self {
        Self { need: Need::Nothing, ..self }
    }

    /// It is served on a reserved place too: whoever holds something depends on it, or whoever
    /// looks after the node.
    pub(super) fn urgent(self) -> Self {
        Self { urgent: true, ..self }
    }

    /// Every status that is no success, with every code that comes with it.
    pub fn refusals(&self) -> Vec<(u16, Code)> {
        // For a Host or an Origin that is another's.
        let mut all = vec![(400, Code::BadRequest), (403, Code::Forbidden)];
        if self.path != LIVES {
            all.extend([(503, Code::Unavailable), (503, Code::NoLeader)]);
        }
        if self.takes != Takes::Nothing {
            all.extend([(408, Code::BadRequest), (413, Code::TooLarge)]);
        }
        if matches!(self.takes, Takes::Json(_) | Takes::Maybe(_)) {
            all.push((415, Code::BadRequest));
        }
        if self.need != Need::Nothing {
            all.push((401, Code::Unauthorized));
        }
        all.extend(self.odd);
        if self.replicated {
            all.push((404, Code::Unsupported));
        }
        all.extend(self.refuses.iter().map(|code| (code.status(), *code)));
        all
    }

    fn into_handler(self, api: &Api) -> MethodRouter<Api> {
        let state = (api.clone(), self.need);
        let handler = self.handler.layer(from_fn_with_state(state, authorize::authorize));
        match self.urgent {
            true => handler,
            false => handler.layer(from_fn(access::check_room)),
        }
    }
}

/// The page of a node: the cluster as this node sees it. Its files are for everybody, like the
/// description of the API; what it shows it asks for as any client does. The lab tells nothing of
/// the cluster, but makes the node work: it is for whoever is known.
fn page(api: &Api) -> Router<Api> {
    let page = Page { lab: api.config.lab, cluster: true, ..Page::default() };
    let state = (api.clone(), Need::Known);
    let lab = page.questions().layer(from_fn_with_state(state, authorize::authorize));
    let served = with_headers(page.shell().merge(lab));
    served.layer(from_fn(access::check_room)).with_state(())
}

/// The router of a node.
pub(super) fn router(api: Api) -> Router {
    let routes = table().into_iter();
    routes
        .fold(page(&api), |router, route| router.route(route.path, route.into_handler(&api)))
        .fallback(|| async { Problem::from(crate::desk::refusal::not_found("no such route")) })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this route has other methods")
        })
        .layer(from_fn_with_state(api.clone(), access::check_request))
        .with_state(api)
}
