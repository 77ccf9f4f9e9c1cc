//! LIBSVM's model text: whatever is read can predict, be described and be written again.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(model) = mercer::model::Model::from_libsvm("fuzz", bytes) {
        mercer_fuzz::use_model(&model);
        let again = model.to_libsvm().expect("it was read from such a text");
        assert!(mercer::model::Model::from_libsvm("again", again.as_bytes()).is_ok());
    }
});
