//! Builder of an operator graph. Values are identified by name; all arithmetic is in f64.

use super::proto::{Attribute, Element, Message};

/// Operators and constants.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    names: usize,
}

/// The name of a value.
pub(super) type Name = String;

impl Graph {
    fn fresh(&mut self) -> Name {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// An operator of the standard set with one result.
    pub(super) fn op(&mut self, kind: &str, inputs: &[&str]) -> Name {
        self.with(kind, inputs, &[])
    }

    /// The same with attributes.
    pub(super) fn with(&mut self, kind: &str, inputs: &[&str], attributes: &[(&str, Attribute)]) -> Name {
        let out = self.fresh();
        self.node("", kind, inputs, &[&out], attributes);
        out
    }

    /// Any operator.
    pub(super) fn node(
        &mut self,
        domain: &str,
        kind: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[(&str, Attribute)],
    ) {
        let mut node = inputs.iter().fold(Message::new(), |m, i| m.text(1, i));
        node = outputs.iter().fold(node, |m, o| m.text(2, o));
        node = node.text(3, &format!("{kind}_{}", self.nodes.len())).text(4, kind);
        node = attributes.iter().fold(node, |m, (name, value)| m.message(5, &value.message(name)));
        self.nodes.push(if domain.is_empty() { node } else { node.text(7, domain) });
    }

    fn constant(&mut self, shape: &[usize], element: Element, fill: impl FnOnce(Message) -> Message) -> Name {
        let name = self.fresh();
        let start = shape.iter().fold(Message::new(), |m, d| m.int(1, *d as i64)).int(2, element as i64);
        self.constants.push(fill(start).text(8, &name));
        name
    }

    /// A constant array of numbers.
    pub(super) fn doubles(&mut self, shape: &[usize], values: &[f64]) -> Name {
        let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.constant(shape, Element::Double, |m| m.data(9, &raw))
    }

    /// A constant number.
    pub(super) fn number(&mut self, value: f64) -> Name {
        self.doubles(&[], &[value])
    }

    /// A constant list of integers.
    pub(super) fn ints(&mut self, values: &[i64]) -> Name {
        let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.constant(&[values.len()], Element::Int64, |m| m.data(9, &raw))
    }

    /// A constant list of strings.
    pub(super) fn texts(&mut self, values: &[String]) -> Name {
        self.constant(&[values.len()], Element::String, |m| values.iter().fold(m, |m, v| m.text(6, v)))
    }

    /// `x * factor + add`, without operations that have no effect.
    pub(super) fn affine(&mut self, x: &str, factor: f64, add: f64) -> Name {
        let mut x = x.to_owned();
        if factor != 1.0 {
            let factor = self.number(factor);
            x = self.op("Mul", &[&x, &factor]);
        }
        if add != 0.0 {
            let add = self.number(add);
            x = self.op("Add", &[&x, &add]);
        }
        x
    }

    /// `x^power`, x not negative or power whole.
    pub(super) fn power(&mut self, x: &str, power: f64) -> Name {
        if power == 1.0 {
            return x.to_owned();
        }
        let power = self.number(power);
        self.op("Pow", &[x, &power])
    }

    /// Sums along an axis, which is kept with size 1.
    pub(super) fn sum(&mut self, x: &str, axis: i64) -> Name {
        let axes = self.ints(&[axis]);
        self.with("ReduceSum", &[x, &axes], &[("keepdims", Attribute::Int(1))])
    }

    /// Removes an axis of size 1.
    pub(super) fn squeeze(&mut self, x: &str, axis: i64) -> Name {
        let axes = self.ints(&[axis]);
        self.op("Squeeze", &[x, &axes])
    }

    /// Selects indices along an axis.
    pub(super) fn pick(&mut self, x: &str, places: &[i64], axis: i64) -> Name {
        let places = self.ints(places);
        self.with("Gather", &[x, &places], &[("axis", Attribute::Int(axis))])
    }

    pub(super) fn cast(&mut self, x: &str, to: Element) -> Name {
        self.with("Cast", &[x], &[("to", Attribute::Int(to as i64))])
    }

    /// Names a value as an output.
    pub(super) fn call(&mut self, x: &str, name: &str) {
        self.node("", "Identity", &[x], &[name], &[]);
    }

    /// The graph's message, with its inputs and outputs.
    pub(super) fn message(&self, input: &Message, outputs: &[Message]) -> Message {
        let graph = self.nodes.iter().fold(Message::new(), |m, node| m.message(1, node)).text(2, "mercer");
        let graph = self.constants.iter().fold(graph, |m, constant| m.message(5, constant));
        outputs.iter().fold(graph.message(11, input), |m, output| m.message(12, output))
    }

    /// Approximate size in bytes.
    pub(super) fn len(&self) -> usize {
        self.nodes.iter().chain(&self.constants).map(Message::len).sum()
    }
}
