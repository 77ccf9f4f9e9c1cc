//! Requests of the service: any bytes behind any header length are a request or a refusal with words.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((length, body)) = bytes.split_at_checked(2) else { return };
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    for header in [None, Some(length)] {
        match mercer_serve::v2::parse(body, header, 16) {
            Ok(request) => assert!(request.inputs.iter().all(|input| input.data.is_some())),
            Err(refusal) => assert!(refusal.status.is_client_error() && !refusal.message.is_empty()),
        }
    }
    let _ = mercer_serve::plain::Form::of_type(None, body);
});
