//! An inference request: JSON, and behind it the bytes of tensors that say so.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::tensor::{Datatype, Flat, Given, from_bytes};
use crate::error::Refusal;

/// A request as it was sent.
#[derive(Debug, Deserialize)]
pub struct Request<'a> {
    /// An id that the response repeats.
    #[serde(borrow, default)]
    pub id: Option<Cow<'a, str>>,
    /// What holds for the whole request.
    #[serde(default, deserialize_with = "object_or_default")]
    pub parameters: Parameters,
    /// The tensors.
    #[serde(borrow, deserialize_with = "objects")]
    pub inputs: Vec<Input<'a>>,
    /// What is asked for; all outputs where it is not there.
    #[serde(borrow, default, deserialize_with = "objects_or_none")]
    pub outputs: Option<Vec<Wanted<'a>>>,
}

/// Parameters of requests, inputs and outputs; others are ignored.
#[derive(Debug, Default, Deserialize)]
pub struct Parameters {
    /// Whether outputs are wanted in binary form.
    #[serde(default, deserialize_with = "or_default")]
    pub binary_data_output: bool,
    /// Bytes of this tensor behind the JSON.
    #[serde(default)]
    pub binary_data_size: Option<usize>,
    /// Whether this output is wanted in binary form.
    #[serde(default)]
    pub binary_data: Option<bool>,
    /// Where other servers find or leave values: who asks for it would wait for them there.
    #[serde(default)]
    shared_memory_region: Option<IgnoredAny>,
    /// How many classes other servers rank as text in place of an output.
    #[serde(default)]
    classification: Option<IgnoredAny>,
}

impl Parameters {
    /// Fails for what would change the meaning of values if it were ignored.
    fn check(&self, of: impl Fn() -> String) -> Result<(), Refusal> {
        let unsupported = if self.shared_memory_region.is_some() {
            "shared memory is not supported; values are sent as JSON or as binary tensors"
        } else if self.classification.is_some() {
            "the classification extension is not supported; the outputs `label` and `score` tell the classes"
        } else {
            return Ok(());
        };
        Err(Refusal::bad(format!("{}: {unsupported}", of())))
    }
}

/// A tensor.
#[derive(Debug, Deserialize)]
pub struct Input<'a> {
    /// Its name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Its dimensions.
    pub shape: Vec<i64>,
    /// The type of its values.
    pub datatype: Datatype,
    /// How it is sent.
    #[serde(default, deserialize_with = "object_or_default")]
    pub parameters: Parameters,
    /// Its values as JSON has them, until they are compared with the shape.
    #[serde(borrow, default, rename = "data")]
    given: Option<&'a RawValue>,
    /// Its values, from JSON or from behind it.
    #[serde(skip)]
    pub data: Option<Flat>,
}

/// An output that is asked for.
#[derive(Debug, Deserialize)]
pub struct Wanted<'a> {
    /// Its name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// How it is wanted.
    #[serde(default, deserialize_with = "object_or_default")]
    pub parameters: Parameters,
}

/// Some clients write `null` for what they leave out.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// An object of JSON: what is derived takes arrays of the fields in their order too, which the protocol does not know.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Fields(PhantomData))
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

fn object_or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Option::<Object<T>>::deserialize(from).map(|object| object.map(|Object(all)| all).unwrap_or_default())
}

fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Vec::<Object<T>>::deserialize(from).map(|all| all.into_iter().map(|Object(one)| one).collect())
}

fn objects_or_none<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let all = Option::<Vec<Object<T>>>::deserialize(from)?;
    Ok(all.map(|all| all.into_iter().map(|Object(one)| one).collect()))
}

/// Reads a request. `header` is the length of the JSON, where bytes of tensors follow it.
pub fn parse(body: &[u8], header: Option<usize>, depth: usize) -> Result<Request<'_>, Refusal> {
    let (json, mut binary) = match header {
        None => (body, &[][..]),
        Some(length) => body.split_at_checked(length).ok_or_else(|| {
            Refusal::bad(format!(
                "the JSON header is said to have {length} bytes, the body has {}",
                body.len()
            ))
        })?,
    };
    let json = without_mark(json);
    check_depth(json, depth)?;
    let not_json =
        |e: serde_json::Error| Refusal::bad(format!("the request is not an inference request in JSON: {e}"));
    let Object(mut request): Object<Request<'_>> = serde_json::from_slice(json).map_err(not_json)?;
    request.parameters.check(|| "the request".into())?;
    for output in request.outputs.iter().flatten() {
        output.parameters.check(|| format!("output `{}`", output.name))?;
    }
    for input in &mut request.inputs {
        let name = &input.name;
        input.parameters.check(|| format!("input `{name}`"))?;
        if let Some(given) = input.given.take() {
            let wrong = |e| Refusal::bad(format!("input `{name}`: {e} of its data"));
            let given = Given::read(given.get()).map_err(wrong)?;
            input.data = Some(given.of_shape(name, &input.shape)?);
        }
        match (input.parameters.binary_data_size, &input.data) {
            (Some(_), Some(_)) => {
                return Err(Refusal::bad(format!("input `{name}` has data both in JSON and in binary form")));
            }
            (Some(size), None) => {
                let (own, rest) = binary.split_at_checked(size).ok_or_else(|| {
                    Refusal::bad(format!("input `{name}`: {size} bytes declared, got {}", binary.len()))
                })?;
                binary = rest;
                input.data = Some(from_bytes(name, input.datatype, own)?);
            }
            (None, Some(_)) => {}
            (None, None) => return Err(Refusal::bad(format!("input `{name}` has no data"))),
        }
    }
    if !binary.is_empty() {
        return Err(Refusal::bad(format!(
            "{} bytes after the last tensor belong to no tensor",
            binary.len()
        )));
    }
    Ok(request)
}

/// Text without the byte order mark that some programs write before it.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Fails where arrays and objects are nested too deeply. Strings are skipped: brackets in them mean nothing.
pub(crate) fn check_depth(json: &[u8], most: usize) -> Result<(), Refusal> {
    // So few brackets cannot be nested too deeply, and counting them is much faster than following them.
    if json.iter().filter(|byte| matches!(byte, b'[' | b'{')).count() <= most {
        return Ok(());
    }
    let (mut depth, mut text, mut escaped) = (0usize, false, false);
    for byte in json {
        match (text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => text = false,
            (false, b'"') => text = true,
            (false, b'[' | b'{') => {
                depth += 1;
                if depth > most {
                    return Err(Refusal::bad(format!("JSON is nested more than {most} levels deep")));
                }
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"id":"a","inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","data":[1.5,-2e3]},
        {"name":"y","shape":[1],"datatype":"BYTES","parameters":{"binary_data_size":5}}],"outputs":[{"name":"label"}]}"#;

    #[test]
    fn requests_are_read_with_the_bytes_behind_them() {
        let body = [GOOD.as_bytes(), &[1, 0, 0, 0, b'z']].concat();
        let request = parse(&body, Some(GOOD.len()), 16).expect("a request");
        assert_eq!(request.inputs[0].data, Some(Flat::F64(vec![1.5, -2000.0])));
        assert_eq!(request.inputs[1].data, Some(Flat::Texts(vec![Some("z".into())])));
    }

    #[test]
    fn any_bytes_are_a_request_or_a_refusal() {
        let body = [GOOD.as_bytes(), &[1, 0, 0, 0, b'z']].concat();
        let (mut state, mut good) = (1u64, 0);
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..5000 {
            let mut bytes = body.clone();
            for _ in 0..=next(4) {
                let at = next(bytes.len());
                match next(3) {
                    0 => bytes[at] = next(256) as u8,
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, b"[]{}\",:-019eE.\\"[next(15)]),
                }
            }
            let header = GOOD.len() + next(5) - 2;
            good += usize::from(parse(&bytes, Some(header), 16).is_ok());
            let _ = parse(&bytes, None, 16);
        }
        assert!(good > 0, "some changes are harmless");
    }

    #[test]
    fn depth_counts_brackets_outside_of_texts() {
        assert!(check_depth(br#"["[[[[", {"a\"[[": [1]}]"#, 3).is_ok());
        assert!(check_depth(br#"["[[[[", {"a\"[[": [1]}]"#, 2).is_err());
    }
}
