//! The few protocol buffer messages of ONNX that a model needs. A field is a tag and a value; a nested message is its
//! length followed by its bytes.

/// The bytes of one message.
#[derive(Debug, Clone, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    /// An integer; negative ones take ten bytes, as the format specifies.
    pub(super) fn int(mut self, field: u32, value: i64) -> Self {
        self.tag(field, 0);
        self.varint(value as u64);
        self
    }

    pub(super) fn float(mut self, field: u32, value: f32) -> Self {
        self.tag(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn data(mut self, field: u32, value: &[u8]) -> Self {
        self.tag(field, 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    pub(super) fn text(self, field: u32, value: &str) -> Self {
        self.data(field, value.as_bytes())
    }

    pub(super) fn message(self, field: u32, value: &Message) -> Self {
        self.data(field, &value.0)
    }
}

/// An attribute of an operator.
#[derive(Debug, Clone)]
pub(super) enum Attribute {
    Int(i64),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    Strings(Vec<String>),
    Text(&'static str),
}

impl Attribute {
    pub(super) fn message(&self, name: &str) -> Message {
        let start = Message::new().text(1, name);
        match self {
            Attribute::Int(v) => start.int(3, *v).int(20, 2),
            Attribute::Text(v) => start.text(4, v).int(20, 3),
            Attribute::Floats(v) => v.iter().fold(start, |m, v| m.float(7, *v)).int(20, 6),
            Attribute::Ints(v) => v.iter().fold(start, |m, v| m.int(8, *v)).int(20, 7),
            Attribute::Strings(v) => v.iter().fold(start, |m, v| m.text(9, v)).int(20, 8),
        }
    }
}

/// Types of elements, by their numbers in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Float = 1,
    Int64 = 7,
    String = 8,
    Double = 11,
}

/// An input or output: its name, its element type, and its shape with any number of rows.
pub(super) fn value_info(name: &str, element: Element, columns: Option<usize>) -> Message {
    let rows = Message::new().text(2, "N");
    let mut shape = Message::new().message(1, &rows);
    if let Some(columns) = columns {
        shape = shape.message(1, &Message::new().int(1, columns as i64));
    }
    let tensor = Message::new().int(1, element as i64).message(2, &shape);
    Message::new().text(1, name).message(2, &Message::new().message(1, &tensor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_format_says() {
        // The two examples of the format's own description.
        assert_eq!(Message::new().int(1, 150).bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::new().text(2, "testing").bytes(), b"\x12\x07testing");
        assert_eq!(Message::new().int(1, -1).bytes().len(), 11);
        assert_eq!(Message::new().float(2, 1.0).bytes(), [0x15, 0, 0, 0x80, 0x3f]);
        let inner = Message::new().int(1, 150);
        assert_eq!(Message::new().message(3, &inner).bytes(), [0x1a, 3, 0x08, 0x96, 0x01]);
    }
}
