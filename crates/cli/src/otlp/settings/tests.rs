use super::*;

#[test]
fn an_endpoint_is_an_address_of_http() {
    for (text, expected) in [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("http://collector", "http://collector:4318/v1/traces"),
        ("http://[::1]", "http://[::1]:4318/v1/traces"),
        ("http://[::1]:9/", "http://[::1]:9/v1/traces"),
        ("http://c:1/otlp/v1/traces", "http://c:1/otlp/v1/traces"),
        ("https://c", "https://c:443/v1/traces"),
        ("https://c:4318/x", "https://c:4318/x"),
    ] {
        let endpoint: Endpoint = text.parse().expect(text);
        assert_eq!(endpoint.to_string(), expected);
    }
    for text in [
        "",
        "c:4318",
        "ftp://c",
        "http://",
        "http:///v1",
        "http://u:p@c",
        "https://u:p@c",
        "http://c/a b",
        "http://c\r\nX: 1",
    ] {
        assert!(text.parse::<Endpoint>().is_err(), "{text}");
    }
}

/// The settings with these variables.
fn settings(
    destination: &str,
    headers: &[&str],
    variables: &[(&str, &str)],
) -> Result<Settings, String> {
    let headers: Result<Vec<Header>, _> = headers.iter().map(|text| text.parse()).collect();
    let variable = |name: &str| {
        let name = name.strip_prefix("OTEL_EXPORTER_OTLP_")?;
        let value = variables.iter().find(|(other, _)| *other == name);
        value.map(|(_, value)| (*value).to_owned())
    };
    Settings::new(&destination.parse()?, &headers?, &variable)
}

#[test]
fn variables_of_traces_precede_and_options_precede_both() {
    for (variables, expected) in [
        (&[("ENDPOINT", "http://c:1")][..], "http://c:1/v1/traces"),
        (&[("ENDPOINT", "http://c:1/a/")], "http://c:1/a/v1/traces"),
        (
            &[
                ("ENDPOINT", "http://c:1"),
                ("TRACES_ENDPOINT", "http://d:2/a"),
            ],
            "http://d:2/a",
        ),
        (
            &[
                ("TRACES_ENDPOINT", "http://d:2"),
                ("PROTOCOL", "http/protobuf"),
            ],
            "http://d:2/",
        ),
    ] {
        let read = settings("env", &[], variables).expect(expected);
        assert_eq!(read.endpoint.url(), expected);
    }
    let of_url = settings("http://e", &[], &[("ENDPOINT", "http://c:1")]).expect("valid");
    assert_eq!(of_url.endpoint.url(), "http://e:4318/v1/traces");
    assert!(of_url.roots.is_none() && !of_url.is_compressed);
    assert_eq!(of_url.timeout, REQUEST_TIMEOUT);
    let variables = [
        ("HEADERS", "a=1, Authorization = Bearer%20x%3D ,b=2"),
        ("TIMEOUT", "250"),
        ("COMPRESSION", "gzip"),
    ];
    let read = settings("http://e", &["B: 3", "c:"], &variables).expect("valid");
    let headers = (read.headers.iter()).map(|one| (one.name.as_str(), one.value.as_bytes()));
    let expected: [(_, &[u8]); 4] = [
        ("a", b"1"),
        ("authorization", b"Bearer x="),
        ("b", b"3"),
        ("c", b""),
    ];
    assert!(headers.eq(expected), "{:?}", read.headers);
    assert_eq!(read.timeout, Duration::from_millis(250));
    assert!(read.is_compressed);
    assert!(!format!("{read:?}").contains("Bearer"));
}

/// Destination, variable with its value, and a part of the message, which begins with the variable's name.
const REFUSED: &str = "
env COMPRESSION=gzip --otlp env needs OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT
env ENDPOINT=c:1 ENDPOINT: this is not http://HOST:PORT/PATH
http://c COMPRESSION=zstd COMPRESSION: zstd
http://c TIMEOUT=1s TIMEOUT: 1s
http://c TRACES_TIMEOUT=0 TRACES_TIMEOUT: 0
http://c HEADERS=a HEADERS: this is not NAME=VALUE
http://c HEADERS=a=%zz HEADERS: a value is not encoded
http://c HEADERS=a@b=1 HEADERS: it has no valid name
http://c HEADERS=a=1%0A2 HEADERS: the value of a is not valid
https://c CERTIFICATE=/dev/null CERTIFICATE: /dev/null has no certificate
https://c CERTIFICATE=/dev/none CERTIFICATE: /dev/none
https://c CLIENT_KEY=/dev/null CLIENT_KEY needs
https://c CLIENT_CERTIFICATE=/dev/null CLIENT_CERTIFICATE needs";

#[test]
fn what_cannot_be_used_is_refused_by_its_name() {
    for line in REFUSED.lines().skip(1) {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().expect("a word");
        let (destination, variable, expected) = (word(), word(), word());
        let variable = variable.split_once('=').expect("a value");
        let why = settings(destination, &[], &[variable]).expect_err(line);
        assert!(why.contains(expected), "{line}: {why}");
    }
    for (header, expected) in [("a", "NAME: VALUE"), ("Content-Type: a", "content-type")] {
        let why = settings("http://c", &[header], &[]).expect_err(header);
        assert!(why.contains(expected), "{why}");
    }
    let grpc = [("ENDPOINT", "http://c:4317"), ("PROTOCOL", "grpc")];
    let why = settings("env", &[], &grpc).expect_err("grpc");
    assert!(why.contains("--otlp"), "{why}");
    // They are not used.
    assert!(settings("http://c", &[], &grpc).is_ok());
    assert!(settings("http://c", &[], &[("CERTIFICATE", "/dev/none")]).is_ok());
}
