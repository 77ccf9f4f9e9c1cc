//! Model files: whatever is read can predict, be described and be written again.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(model) = mercer::model::Model::from_bytes("fuzz", bytes) {
        mercer_fuzz::use_model(&model);
        let again = model.to_bytes().expect("it was read from bytes");
        assert!(mercer::model::Model::from_bytes("again", &again).is_ok());
    }
});
