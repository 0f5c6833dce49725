//! Rules about a file as syntax: the length of functions, what `lib.rs` may hold, no test ignored,
//! nothing left to be done. Reads the syntax tree, so strings and comments cannot fool it.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, Macro};

use super::{FUNCTION_LINES_MAX, Offence};

/// Lines of one constant in a `lib.rs`.
const LIB_CONST_LINES_MAX: usize = 40;

pub(super) fn offences(path: &str, file: &File) -> Vec<Offence> {
    let mut visitor = Visitor { found: Vec::new() };
    visitor.visit_file(file);
    if path.ends_with("src/lib.rs") {
        no_logic(&file.items, &mut visitor.found);
    }
    visitor.found
}

struct Visitor {
    found: Vec<Offence>,
}

impl Visitor {
    fn function(&mut self, name: &str, signature: Span, body: Span) {
        let first = signature.start().line;
        let lines = body.end().line + 1 - first;
        if lines > FUNCTION_LINES_MAX {
            self.found.push(Offence {
                rule: "function-length",
                line: first,
                size: lines,
                problem: format!("`{name}` has {lines} lines, {FUNCTION_LINES_MAX} are allowed"),
                way_out: "give a part of it a name",
            });
        }
    }
}

impl<'ast> Visit<'ast> for Visitor {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig.ident.to_string(), item.sig.span(), item.block.span());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig.ident.to_string(), item.sig.span(), item.block.span());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig.ident.to_string(), item.sig.span(), block.span());
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let conditional = attribute.path().is_ident("cfg_attr")
            && attribute.parse_args().is_ok_and(|tokens| mentions(tokens, &["ignore"]));
        if attribute.path().is_ident("ignore") || conditional {
            self.found.push(Offence {
                rule: "ignored-test",
                line: attribute.span().start().line,
                size: 1,
                problem: "a test is ignored".to_owned(),
                way_out: "make it pass, make it a soak test, or delete it",
            });
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string());
        let name = name.unwrap_or_default();
        let inside = macro_names(call.tokens.clone());
        let unfinished = UNFINISHED.iter().find(|word| name == **word || inside.contains(**word));
        if let Some(word) = unfinished {
            self.found.push(Offence {
                rule: "unfinished",
                line: call.span().start().line,
                size: 1,
                problem: format!("`{word}!` is left in the code"),
                way_out: "finish it, or return an error that says what is not supported",
            });
        }
        visit::visit_macro(self, call);
    }
}

const UNFINISHED: &[&str] = &["todo", "unimplemented"];

/// True when one of `words` is an identifier in `tokens`.
fn mentions(tokens: TokenStream, words: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => words.iter().any(|word| ident == word),
        TokenTree::Group(group) => mentions(group.stream(), words),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Names of the macros that are called inside the arguments of another one.
fn macro_names(tokens: TokenStream) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut last = None;
    for token in tokens {
        match token {
            TokenTree::Group(group) => names.extend(macro_names(group.stream())),
            TokenTree::Punct(punct) if punct.as_char() == '!' => names.extend(last.take()),
            TokenTree::Ident(ident) => {
                last = Some(ident.to_string());
                continue;
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        last = None;
    }
    names
}

/// A `lib.rs` is a map of the crate: modules, exports, and at most a short constant list.
fn no_logic(items: &[Item], found: &mut Vec<Offence>) {
    for item in items {
        let allowed = match item {
            Item::Mod(module) => {
                if let Some((_, inside)) = &module.content {
                    no_logic(inside, found);
                }
                true
            }
            Item::Use(_) | Item::ExternCrate(_) => true,
            Item::Const(constant) => lines(constant.span()) <= LIB_CONST_LINES_MAX,
            Item::Macro(call) => call.mac.path.is_ident("include"),
            _ => false,
        };
        if !allowed {
            found.push(Offence {
                rule: "lib-logic",
                line: item.span().start().line,
                size: 1,
                problem: "lib.rs holds more than modules, exports and short constants".to_owned(),
                way_out: "move the item to a module and re-export it",
            });
        }
    }
}

fn lines(span: Span) -> usize {
    span.end().line + 1 - span.start().line
}
