//! Equations: the part of TeX that the pages use, as MathML, which browsers draw without scripts.
//!
//! Known are letters, numbers, operators, `_` and `^`, groups, `\frac`, `\sqrt`, `\text`, `\mathrm`, `\hat`, `\bar`, and the
//! symbols of [`SYMBOLS`]. Anything else is an error, so that no page shows raw TeX.

use std::iter::Peekable;
use std::str::Chars;

use anyhow::{Result, bail};

use super::page::escape;

/// Commands that are one symbol: what is drawn, and as which element.
const SYMBOLS: &[(&str, &str, &str)] = &[
    ("alpha", "α", "mi"),
    ("beta", "β", "mi"),
    ("gamma", "γ", "mi"),
    ("delta", "δ", "mi"),
    ("epsilon", "ε", "mi"),
    ("varepsilon", "ε", "mi"),
    ("eta", "η", "mi"),
    ("kappa", "κ", "mi"),
    ("lambda", "λ", "mi"),
    ("mu", "μ", "mi"),
    ("nu", "ν", "mi"),
    ("xi", "ξ", "mi"),
    ("pi", "π", "mi"),
    ("rho", "ρ", "mi"),
    ("sigma", "σ", "mi"),
    ("tau", "τ", "mi"),
    ("phi", "φ", "mi"),
    ("varphi", "φ", "mi"),
    ("psi", "ψ", "mi"),
    ("omega", "ω", "mi"),
    ("theta", "θ", "mi"),
    ("Phi", "Φ", "mi"),
    ("Psi", "Ψ", "mi"),
    ("Delta", "Δ", "mi"),
    ("Sigma", "Σ", "mi"),
    ("Lambda", "Λ", "mi"),
    ("ell", "ℓ", "mi"),
    ("infty", "∞", "mi"),
    ("partial", "∂", "mi"),
    ("nabla", "∇", "mi"),
    ("ldots", "…", "mo"),
    ("dots", "…", "mo"),
    ("sum", "∑", "mo"),
    ("prod", "∏", "mo"),
    ("int", "∫", "mo"),
    ("cdot", "·", "mo"),
    ("times", "×", "mo"),
    ("le", "≤", "mo"),
    ("ge", "≥", "mo"),
    ("leq", "≤", "mo"),
    ("geq", "≥", "mo"),
    ("ne", "≠", "mo"),
    ("in", "∈", "mo"),
    ("to", "→", "mo"),
    ("mapsto", "↦", "mo"),
    ("approx", "≈", "mo"),
    ("propto", "∝", "mo"),
    ("pm", "±", "mo"),
    ("langle", "⟨", "mo"),
    ("rangle", "⟩", "mo"),
    ("|", "‖", "mo"),
    ("lVert", "‖", "mo"),
    ("rVert", "‖", "mo"),
    ("lvert", "|", "mo"),
    ("rvert", "|", "mo"),
    ("{", "{", "mo"),
    ("}", "}", "mo"),
    ("%", "%", "mo"),
    ("min", "min", "mo"),
    ("max", "max", "mo"),
    ("exp", "exp", "mo"),
    ("log", "log", "mo"),
    ("tanh", "tanh", "mo"),
    ("sin", "sin", "mo"),
    ("cos", "cos", "mo"),
    ("sign", "sign", "mo"),
    ("arg", "arg", "mo"),
    ("top", "⊤", "mo"),
    ("quad", "\u{2003}", "mo"),
    (",", "\u{2009}", "mo"),
    (";", "\u{2005}", "mo"),
    (" ", "\u{a0}", "mo"),
];
/// Symbols that browsers stretch unless told otherwise.
const BRACKETS: [&str; 6] = ["⟨", "⟩", "‖", "|", "{", "}"];
/// The attribute of brackets that keep their size.
const FIXED: &str = " stretchy=\"false\"";
/// Operators with limits above and below in displayed equations.
const LIMITS: [&str; 4] = ["sum", "prod", "min", "max"];

/// MathML of a TeX formula.
pub(super) fn mathml(tex: &str, display: bool) -> Result<String> {
    let mut source = tex.trim().chars().peekable();
    let inner = row(&mut source, None, display)?;
    let kind = if display { " display=\"block\"" } else { "" };
    Ok(format!("<math{kind}><mrow>{inner}</mrow></math>"))
}

type Source<'a> = Peekable<Chars<'a>>;

/// Elements up to the closing character.
fn row(source: &mut Source<'_>, end: Option<char>, display: bool) -> Result<String> {
    let mut out = String::new();
    loop {
        while source.next_if(|c| c.is_whitespace()).is_some() {}
        match source.peek() {
            None if end.is_none() => return Ok(out),
            None => bail!("an equation ends within a group"),
            Some(&c) if Some(c) == end => {
                source.next();
                return Ok(out);
            }
            Some(_) => out.push_str(&with_scripts(source, display)?),
        }
    }
}

/// An element with its subscript and superscript.
fn with_scripts(source: &mut Source<'_>, display: bool) -> Result<String> {
    let (base, limits) = element(source, display)?;
    let (mut below, mut above) = (None, None);
    loop {
        while source.next_if(|c| c.is_whitespace()).is_some() {}
        let slot = match source.peek() {
            Some('_') => &mut below,
            Some('^') => &mut above,
            Some('\'') => {
                source.next();
                above = Some("<mo>′</mo>".to_owned());
                continue;
            }
            _ => break,
        };
        source.next();
        *slot = Some(element(source, display)?.0);
    }
    let under = limits && display;
    Ok(match (below, above) {
        (None, None) => base,
        (Some(b), None) if under => format!("<munder>{base}{b}</munder>"),
        (Some(b), None) => format!("<msub>{base}{b}</msub>"),
        (None, Some(a)) if under => format!("<mover>{base}{a}</mover>"),
        (None, Some(a)) => format!("<msup>{base}{a}</msup>"),
        (Some(b), Some(a)) if under => format!("<munderover>{base}{b}{a}</munderover>"),
        (Some(b), Some(a)) => format!("<msubsup>{base}{b}{a}</msubsup>"),
    })
}

/// One element, and whether its scripts are limits.
fn element(source: &mut Source<'_>, display: bool) -> Result<(String, bool)> {
    while source.next_if(|c| c.is_whitespace()).is_some() {}
    let Some(c) = source.next() else { bail!("an equation ends where a symbol is expected") };
    Ok(match c {
        '{' => (format!("<mrow>{}</mrow>", row(source, Some('}'), display)?), false),
        '\\' => return command(source, display),
        c if c.is_ascii_digit() => {
            let mut number = String::from(c);
            while let Some(next) = source.next_if(|n| n.is_ascii_digit() || *n == '.') {
                number.push(next);
            }
            (format!("<mn>{number}</mn>"), false)
        }
        c if c.is_alphabetic() => (format!("<mi>{c}</mi>"), false),
        '-' => ("<mo>−</mo>".into(), false),
        '(' | ')' | '[' | ']' | '|' => (format!("<mo{FIXED}>{c}</mo>"), false),
        '+' | '=' | '<' | '>' | ',' | '.' | ';' | ':' | '/' | '*' | '!' => {
            (format!("<mo>{}</mo>", escape(&c.to_string())), false)
        }
        other => bail!("`{other}` is not known in equations"),
    })
}

fn command(source: &mut Source<'_>, display: bool) -> Result<(String, bool)> {
    let mut name = String::new();
    while let Some(c) = source.next_if(char::is_ascii_alphabetic) {
        name.push(c);
    }
    if name.is_empty() {
        name.extend(source.next());
    }
    let mut part = || element(source, display).map(|(e, _)| e);
    let drawn = match name.as_str() {
        "frac" => format!("<mfrac>{}{}</mfrac>", part()?, part()?),
        "sqrt" => format!("<msqrt>{}</msqrt>", part()?),
        "hat" => format!("<mover accent=\"true\">{}<mo>^</mo></mover>", part()?),
        "bar" => format!("<mover accent=\"true\">{}<mo>¯</mo></mover>", part()?),
        "tilde" => format!("<mover accent=\"true\">{}<mo>~</mo></mover>", part()?),
        "text" | "mathrm" => format!("<mtext>{}</mtext>", escape(&words(source)?)),
        // Only these brackets grow with what they enclose.
        "left" | "right" => part()?.replace(FIXED, ""),
        _ => match SYMBOLS.iter().find(|(known, ..)| *known == name) {
            Some((_, drawn, _)) if BRACKETS.contains(drawn) => format!("<mo{FIXED}>{drawn}</mo>"),
            Some((_, drawn, kind)) => format!("<{kind}>{}</{kind}>", escape(drawn)),
            None => bail!("`\\{name}` is not known in equations (xtask/src/book/maths.rs)"),
        },
    };
    Ok((drawn, LIMITS.contains(&name.as_str())))
}

/// The words of `\text{...}`.
fn words(source: &mut Source<'_>) -> Result<String> {
    if source.next() != Some('{') {
        bail!("\\text is followed by a group");
    }
    let mut words = String::new();
    for c in source.by_ref() {
        if c == '}' {
            return Ok(words.replace(' ', "\u{a0}"));
        }
        words.push(c);
    }
    bail!("an equation ends within a group")
}

#[cfg(test)]
mod tests {
    use super::mathml;

    #[test]
    fn scripts_fractions_and_symbols_are_drawn() {
        let got = mathml(r"\sum_{i=1}^n \frac{1}{2} \alpha_i k(x_i, x)", true).expect("known");
        assert!(got.starts_with("<math display=\"block\"><mrow><munderover><mo>∑</mo>"), "{got}");
        assert!(got.contains("<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"), "{got}");
        assert!(got.contains("<msub><mi>α</mi><mi>i</mi></msub>"), "{got}");
        let norm = mathml(r"\|w\|^2", false).expect("known");
        assert!(norm.contains("<msup><mo stretchy=\"false\">‖</mo><mn>2</mn></msup>"), "{norm}");
        assert!(mathml(r"\left( x \right)", false).expect("known").contains("<mo>(</mo>"));
        assert!(
            mathml(r"f' \text{ if } x", false).expect("known").contains("<msup><mi>f</mi><mo>′</mo></msup>")
        );
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        for bad in [r"\unknown", "a_", "{a", "#", r"\text a"] {
            assert!(mathml(bad, false).is_err(), "{bad}");
        }
    }
}
