//! Saving: what is saved comes back the same; what was tampered with is refused.

use mercer::Exec;
use mercer::data::stage::{Parts, StageTensor};
use mercer::data::{ImageShape, Recipe, Stage, Stages};
use mercer_testkit::toy as kit;
use serde_json::json;

use crate::{fit, images};

fn all() -> Vec<Stage> {
    let train = images(9, ImageShape { height: 4, width: 5, channels: 2 }, 7);
    let mut stages: Vec<Stage> = Recipe::ALL
        .iter()
        .filter(|e| !e.sequence && !e.table)
        .map(|e| fit(e.example.replace("downsample(4, 3)", "downsample(2, 3)").as_str(), &train))
        .collect();
    stages.push(fit("minmax(-1, 1, channel)", &train));
    stages.push(fit("centre-mass(0.25)", &train));
    stages.push(Stage::linear(kit::normals(3, 40, 1), 40, Some(vec![1.0, 2.0, 3.0])).expect("3 x 40"));
    stages
}

#[test]
fn a_stage_comes_back_from_its_parts_and_from_json() {
    let test = images(3, ImageShape { height: 4, width: 5, channels: 2 }, 8);
    for stage in all() {
        let parts = stage.to_parts();
        assert!(parts.header.to_string().len() < 200, "{}", parts.header);
        for tensor in &parts.tensors {
            assert_eq!(tensor.shape.iter().product::<usize>(), tensor.values.len());
        }
        let back = Stage::from_parts(parts).expect("its own parts");
        assert_eq!(back, stage);
        let json = serde_json::to_string(&stage).expect("numbers and words");
        let back: Stage = serde_json::from_str(&json).expect("its own JSON");
        let apply = |s: &Stage| s.apply(test.view(), Exec::one()).expect("images of the shape");
        assert_eq!(apply(&back), apply(&stage));
    }
}

#[test]
fn a_chain_comes_back_with_its_arrays_named_by_stage() {
    let train = images(9, ImageShape::grey(6, 6), 7);
    let recipes = Stages::parse("standard | downsample(3, 3) | minmax").expect("three stages");
    let (stages, _) = Stages::fit(&recipes, train.view(), Exec::one()).expect("images");
    let parts = stages.to_parts();
    let names: Vec<&str> = parts.tensors.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["0.mean", "0.std", "2.min", "2.max"]);
    assert_eq!(Stages::from_parts(parts.clone()).expect("its own parts"), stages);

    let refused = |change: &dyn Fn(&mut Parts)| {
        let mut parts = parts.clone();
        change(&mut parts);
        assert!(Stages::from_parts(parts).is_err());
    };
    refused(&|p| p.tensors[0].name = "7.mean".into());
    refused(&|p| p.tensors[0].name = "mean".into());
    refused(&|p| p.header = json!({}));
    refused(&|p| {
        // The middle stage gone, the outer ones no longer fit.
        p.header.as_array_mut().expect("a list").remove(1);
        p.tensors[2].name = "1.min".into();
        p.tensors[3].name = "1.max".into();
    });
}

#[test]
fn tampered_parts_are_refused() {
    for stage in all() {
        let parts = stage.to_parts();
        let refused = |change: &dyn Fn(&mut Parts)| {
            let mut bad = parts.clone();
            change(&mut bad);
            assert!(Stage::from_parts(bad.clone()).is_err(), "{bad:?}");
        };
        refused(&|p| p.header["columns"] = json!(0));
        refused(&|p| p.header["columns"] = json!(41));
        refused(&|p| p.header["stage"]["name"] = json!("none such"));
        refused(&|p| p.header["more"] = json!(1));
        refused(&|p| p.tensors.push(StageTensor { name: "more".into(), shape: vec![0], values: vec![] }));
        if stage.input_image().is_some() {
            refused(&|p| p.header["image"]["height"] = json!(usize::MAX));
            refused(&|p| p.header["image"]["channels"] = json!(0));
        }
        for t in 0..parts.tensors.len() {
            refused(&|p| {
                p.tensors.remove(t);
            });
            refused(&|p| p.tensors[t].values.push(1.0));
            refused(&|p| p.tensors[t].shape.push(2));
            refused(&|p| p.tensors[t].shape = vec![usize::MAX, usize::MAX]);
            refused(&|p| p.tensors[t].values[0] = f64::NAN);
            refused(&|p| {
                p.tensors[t] = StageTensor { shape: vec![0], values: vec![], ..p.tensors[t].clone() }
            });
        }
        if stage.name() == "standard" {
            refused(&|p| p.tensors[1].values[3] = 0.0);
        }
        if stage.name() == "minmax" {
            refused(&|p| p.tensors[1].values[0] = p.tensors[0].values[0] - 1.0);
            refused(&|p| p.header["stage"]["hi"] = json!(-7));
        }
        if Recipe::ALL.iter().any(|e| e.name == stage.name() && e.image) {
            refused(&|p| p.header["image"] = json!(null));
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    let image = json!({"height": 4, "width": 5, "channels": 1});
    for stage in [
        json!({"name": "downsample", "height": 5, "width": 5}),
        json!({"name": "downsample", "height": 0, "width": 5}),
        json!({"name": "smooth", "sigma": 1e9}),
        json!({"name": "smooth", "sigma": -1}),
        json!({"name": "power", "p": 0}),
        json!({"name": "silhouette", "background": 0, "level": -1}),
        json!({"name": "centre-mass", "background": 0, "level": -1}),
        json!({"name": "scale", "by": null, "add": 0}),
        json!({"name": "linear", "outputs": usize::MAX}),
    ] {
        let header = json!({"columns": 20, "image": image, "stage": stage});
        assert!(Stage::from_parts(Parts { header, tensors: vec![] }).is_err(), "{stage}");
    }
}
