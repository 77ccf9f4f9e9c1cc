//! Bodies of every form with bytes changed, cut and repeated: rows or a refusal with words, never a panic and never a status of
//! the 500s.

use std::path::Path;
use std::sync::Arc;

use mercer::Exec;
use mercer_serve::models::{Registry, Served};
use mercer_serve::plain::{Form, rows};
use mercer_serve::shell::Limits;
use mercer_serve::{Place, v2};

use crate::client::{Server, receive, send};
use crate::malformed::banana;

/// Numbers that look drawn at random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    /// A body with some bytes changed.
    fn changed(&mut self, body: &[u8]) -> Vec<u8> {
        const SIGNS: &[u8] = b"[]{}\",:;-+019eE.\\\t\n \x00\xff'#>";
        let mut bytes = body.to_vec();
        for _ in 0..=self.below(5) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 if !bytes.is_empty() => bytes[at] = self.below(256) as u8,
                1 if !bytes.is_empty() => drop(bytes.remove(at)),
                2 => bytes.truncate(at),
                3 => {
                    let part = bytes[at..].to_vec();
                    bytes.extend(part);
                }
                _ => bytes.insert(at.min(bytes.len()), SIGNS[self.below(SIGNS.len())]),
            }
        }
        bytes
    }
}

fn golden(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mercer-cli/tests/golden/v2");
    std::fs::read(folder.join(name)).expect("a golden file")
}

/// Models of numbers, of a table, of sequences and of any number of columns.
fn served() -> Vec<Arc<Served>> {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "numbers", 1);
    std::fs::write(folder.path().join("dna.mercer"), golden("sequences.mercer")).expect("written");
    let old = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.1\nlabel 1 -1\nnr_sv 1 1\nSV\n\
               1 1:1 3:2\n-1 2:1\n";
    std::fs::write(folder.path().join("old.model"), old).expect("written");
    let people =
        "age,colour,label\n".to_owned() + &"30,red,yes\n41,blue,no\n,green,yes\n52,red,no\n".repeat(6);
    let data = mercer::data::io::read_bytes(
        "people.csv",
        people.as_bytes(),
        &mercer::data::io::ReadOptions::default(),
    )
    .expect("data");
    let plan =
        mercer::model::Plan::new(&data, &mercer::model::Wishes::default(), Exec::one()).expect("a plan");
    let model = plan.fit(Exec::one(), &mut mercer::watch::silent()).expect("a fit");
    model.save(folder.path().join("people.mercer")).expect("saved");
    let registry = Registry::open(vec![Place::new(folder.path())], Exec::one()).expect("models");
    ["numbers", "people", "dna", "old"].map(|name| registry.find(name, None).expect(name).0).into()
}

#[test]
fn any_bytes_are_rows_or_a_refusal() {
    let mut npy =
        b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }".to_vec();
    npy.resize(79, b' ');
    npy.push(b'\n');
    npy.extend([1.5f64, -2.0].iter().flat_map(|v| v.to_le_bytes()));
    let seeds: [(Form, &[u8]); 11] = [
        (Form::Json, b"[[1, 2], [3.5, -4e2]]"),
        (Form::Json, b"{\"rows\": [{\"age\": 30, \"colour\": \"red\"}, {\"colour\": null, \"age\": 1}]}"),
        (Form::Json, b"[\"ACGT\", \"TTGA\"]"),
        (Form::JsonLines, b"[1, 2]\n[3, 4]\n"),
        (Form::JsonLines, b"{\"age\": 30, \"colour\": \"red\"}\n{\"colour\": \"violet\"}\n"),
        (Form::Csv, b"age,colour\n30,red\n,\"gre\"\"en\"\n"),
        (Form::Csv, b"1,2\n3,4\n"),
        (Form::Tsv, b"1\t2\n3\t4\n"),
        (Form::Npy, &npy),
        (Form::Other, b"x\tACGTACGT\ny\tTTGA\n"),
        (Form::Other, b"1 1:0.5 3:2\n-1 2:1\n"),
    ];
    let limits = Limits { rows: 100, ..Limits::default() };
    let (mut dice, mut good, mut bad) = (Dice(7), 0, 0);
    for served in served() {
        for (form, body) in seeds {
            for _ in 0..120 {
                match rows(&served, form, &dice.changed(body), &limits, Exec::one()) {
                    Ok(rows) => {
                        assert!(!rows.is_empty() && rows.len() <= 100);
                        good += 1;
                    }
                    Err(refusal) => {
                        assert!(refusal.status.is_client_error() && !refusal.message.is_empty());
                        bad += 1;
                    }
                }
            }
        }
    }
    assert!(good > 200 && bad > 200, "{good} rows, {bad} refusals");
}

#[test]
fn changed_requests_over_the_wire_get_a_status_of_the_200s_or_400s() {
    let folder = tempfile::tempdir().expect("a folder");
    banana(folder.path(), "m", 1);
    let server = Server::of(folder.path());
    let json = br#"{"id":"a","inputs":[{"name":"x","shape":[1,2],"datatype":"FP64","parameters":{"binary_data_size":16}}]}"#;
    let body = [json.as_slice(), &1.5f64.to_le_bytes(), &(-2.0f64).to_le_bytes()].concat();
    assert!(v2::parse(&body, Some(json.len()), 16).is_ok());
    let mut dice = Dice(3);
    let mut socket = server.connect();
    for turn in 0..400 {
        // Now and then a good one: the connection is still in step.
        let good = turn % 8 == 0;
        let bytes = if good { body.clone() } else { dice.changed(&body) };
        let length = json.len() + if good { 0 } else { dice.below(3) };
        let length = length.to_string();
        let headers = [("inference-header-content-length", length.as_str())];
        send(&mut socket, "POST", "/v2/models/m/infer", &headers, &bytes);
        let reply = receive(&mut socket);
        assert!(reply.status == 200 || (400..500).contains(&reply.status), "{}", reply.text());
        assert!(!good || reply.status == 200, "{}", reply.text());
    }
    assert!(server.stop());
}
