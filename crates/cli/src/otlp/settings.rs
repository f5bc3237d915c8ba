//! Where spans are sent, and how: the options of `tare record`, and OpenTelemetry's environment variables.

use std::fmt;
use std::fs;
use std::str::FromStr;
use std::time::Duration;

use ureq::http::{HeaderName, HeaderValue, Uri};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, parse_pem};

/// The limit of a request, its answer included, unless the environment has another.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// OTLP's port for HTTP without TLS.
const PORT: u16 = 4318;
/// The path of spans.
const PATH: &str = "/v1/traces";
/// The value of `--otlp` that takes the address from the environment.
const FROM_ENVIRONMENT: &str = "env";

/// The address of a collector, with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(String);

impl Endpoint {
    /// Reads an address. `complete_path` gives the path of spans from that of the address.
    fn parse(text: &str, complete_path: fn(&str) -> String) -> Result<Self, String> {
        let wrong = || "this is not http://HOST:PORT/PATH or https://HOST:PORT/PATH".to_owned();
        let url: Uri = text.parse().map_err(|_| wrong())?;
        let (scheme, port) = match url.scheme_str() {
            Some("http") => ("http", PORT),
            Some("https") => ("https", 443),
            _ => return Err(wrong()),
        };
        let host = url
            .host()
            .filter(|host| !host.is_empty())
            .ok_or_else(wrong)?;
        if text.contains(['@', '?', '#']) {
            return Err(wrong());
        }
        let port = url.port_u16().unwrap_or(port);
        let path = complete_path(url.path());
        Ok(Self(format!("{scheme}://{host}:{port}{path}")))
    }

    /// The address, for a request.
    pub fn url(&self) -> &str {
        &self.0
    }

    fn is_encrypted(&self) -> bool {
        self.0.starts_with("https:")
    }
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text, |path| match path {
            "" | "/" => PATH.to_owned(),
            path => path.to_owned(),
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, into: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(into)
    }
}

/// The value of `--otlp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// This address.
    Url(Endpoint),
    /// That of the environment.
    Environment,
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            FROM_ENVIRONMENT => Ok(Self::Environment),
            text => text.parse().map(Self::Url),
        }
    }
}

/// A header of each request. Its value is not printed: it may be a secret.
#[derive(Clone)]
pub struct Header {
    /// The name.
    pub name: HeaderName,
    /// The value.
    pub value: HeaderValue,
}

impl fmt::Debug for Header {
    fn fmt(&self, into: &mut fmt::Formatter) -> fmt::Result {
        write!(into, "{}: (hidden)", self.name)
    }
}

impl Header {
    fn new(name: &str, value: &[u8]) -> Result<Self, String> {
        let name: HeaderName = (name.trim().parse()).map_err(|_| "it has no valid name")?;
        if ["content-length", "content-type", "content-encoding", "host"].contains(&name.as_str()) {
            return Err(format!("Tare sets {name} itself"));
        }
        let mut value = HeaderValue::from_bytes(value.trim_ascii())
            .map_err(|_| format!("the value of {name} is not valid"))?;
        value.set_sensitive(true);
        Ok(Self { name, value })
    }
}

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').ok_or("this is not 'NAME: VALUE'")?;
        Self::new(name, value.as_bytes())
    }
}

/// How spans are sent.
#[derive(Debug)]
pub struct Settings {
    pub endpoint: Endpoint,
    pub headers: Vec<Header>,
    pub timeout: Duration,
    pub is_compressed: bool,
    /// Whose certificates are accepted; `None` without TLS.
    pub roots: Option<RootCerts>,
    /// The certificate of this client.
    pub client: Option<ClientCert>,
}

/// A variable of the environment.
pub type Variable<'a> = dyn Fn(&str) -> Option<String> + 'a;

impl Settings {
    /// The settings of the options, and of variables `OTEL_EXPORTER_OTLP_...`. The error names the variable.
    pub fn new(
        destination: &Destination,
        headers: &[Header],
        variable: &Variable<'_>,
    ) -> Result<Self, String> {
        let variables = Variables(variable);
        let endpoint = match destination {
            Destination::Url(endpoint) => endpoint.clone(),
            Destination::Environment => variables.endpoint()?,
        };
        // An option replaces the environment's header of this name.
        let mut all = variables.headers()?;
        all.retain(|one| headers.iter().all(|other| other.name != one.name));
        all.extend(headers.iter().cloned());
        let is_encrypted = endpoint.is_encrypted();
        Ok(Self {
            headers: all,
            timeout: variables.timeout()?,
            is_compressed: variables.is_compressed()?,
            roots: is_encrypted.then(|| variables.roots()).transpose()?,
            client: is_encrypted
                .then(|| variables.client())
                .transpose()?
                .flatten(),
            endpoint,
        })
    }
}

/// OpenTelemetry's variables. One for traces precedes the one for all signals. An empty one counts as missing.
struct Variables<'a>(&'a Variable<'a>);

impl Variables<'_> {
    /// The value and the name of a variable.
    fn get(&self, name: &str) -> Option<(String, String)> {
        let names = [
            format!("OTEL_EXPORTER_OTLP_TRACES_{name}"),
            format!("OTEL_EXPORTER_OTLP_{name}"),
        ];
        let mut values = names.into_iter().map(|name| ((self.0)(&name), name));
        values.find_map(|(value, name)| {
            let value = value.filter(|value| !value.trim().is_empty())?;
            Some((value.trim().to_owned(), name))
        })
    }

    /// The address. The one for all signals has no path of traces.
    fn endpoint(&self) -> Result<Endpoint, String> {
        let missing =
            "--otlp env needs OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT";
        let (value, name) = self.get("ENDPOINT").ok_or(missing)?;
        if let Some((protocol, of_protocol)) = self.get("PROTOCOL")
            && protocol == "grpc"
        {
            return Err(format!(
                "{of_protocol} is grpc, and Tare sends JSON over HTTP: give the collector's address for HTTP with --otlp"
            ));
        }
        let complete_path: fn(&str) -> String = match name.contains("TRACES") {
            true => str::to_owned,
            false => |path| format!("{}{PATH}", path.trim_end_matches('/')),
        };
        Endpoint::parse(&value, complete_path).map_err(|why| format!("{name}: {why}"))
    }

    /// Headers as `name=value,name=value`, whose values are encoded as in a URL.
    fn headers(&self) -> Result<Vec<Header>, String> {
        let Some((value, name)) = self.get("HEADERS") else {
            return Ok(Vec::new());
        };
        let pairs = value.split(',').filter(|pair| !pair.trim().is_empty());
        let header = |pair: &str| {
            let (key, value) = pair.split_once('=').ok_or("this is not NAME=VALUE")?;
            let value = tare_mysql::traceparent::decode_percent(value.trim());
            Header::new(
                key,
                value
                    .ok_or("a value is not encoded as in a URL")?
                    .as_bytes(),
            )
        };
        let headers: Result<_, String> = pairs.map(header).collect();
        headers.map_err(|why| format!("{name}: {why}"))
    }

    fn timeout(&self) -> Result<Duration, String> {
        let Some((value, name)) = self.get("TIMEOUT") else {
            return Ok(REQUEST_TIMEOUT);
        };
        let milliseconds = value.parse().ok().filter(|ms| *ms > 0);
        let milliseconds = milliseconds.ok_or(format!("{name}: {value} are no milliseconds"));
        milliseconds.map(Duration::from_millis)
    }

    fn is_compressed(&self) -> Result<bool, String> {
        match self.get("COMPRESSION") {
            None => Ok(false),
            Some((value, _)) if value == "none" => Ok(false),
            Some((value, _)) if value == "gzip" => Ok(true),
            Some((value, name)) => Err(format!("{name}: {value} is neither gzip nor none")),
        }
    }

    /// The certificates of a file, or those of the system.
    fn roots(&self) -> Result<RootCerts, String> {
        if let Some((file, name)) = self.get("CERTIFICATE") {
            let certificates = read_certificates(&file).map_err(|why| format!("{name}: {why}"))?;
            return Ok(RootCerts::from(certificates));
        }
        let loaded = rustls_native_certs::load_native_certs();
        if loaded.certs.is_empty() {
            let why = loaded.errors.first().map(|why| format!(" ({why})"));
            return Err(format!(
                "the system has no certificates{}: install ca-certificates, or set OTEL_EXPORTER_OTLP_CERTIFICATE",
                why.unwrap_or_default()
            ));
        }
        let certificates = loaded
            .certs
            .iter()
            .map(|der| Certificate::from_der(der).to_owned());
        Ok(RootCerts::from(certificates))
    }

    /// The certificate and the key that this client shows.
    fn client(&self) -> Result<Option<ClientCert>, String> {
        let (certificate, key) = (self.get("CLIENT_CERTIFICATE"), self.get("CLIENT_KEY"));
        match (certificate, key) {
            (None, None) => Ok(None),
            (Some((file, name)), Some((key_file, name_of_key))) => {
                let chain = read_certificates(&file).map_err(|why| format!("{name}: {why}"))?;
                let key = read(&key_file).and_then(|pem| {
                    PrivateKey::from_pem(&pem).map_err(|why| format!("{key_file}: {why}"))
                });
                let key = key.map_err(|why| format!("{name_of_key}: {why}"))?;
                Ok(Some(ClientCert::new_with_certs(&chain, key)))
            }
            (Some((_, name)), None) => Err(format!("{name} needs a CLIENT_KEY, too")),
            (None, Some((_, name))) => Err(format!("{name} needs a CLIENT_CERTIFICATE, too")),
        }
    }
}

fn read(file: &str) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|why| format!("{file}: {why}"))
}

/// The certificates of a file in PEM.
fn read_certificates(file: &str) -> Result<Vec<Certificate<'static>>, String> {
    let pem = read(file)?;
    let mut certificates = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(one) = item.map_err(|why| format!("{file}: {why}"))? {
            certificates.push(one);
        }
    }
    match certificates.is_empty() {
        true => Err(format!("{file} has no certificate in PEM")),
        false => Ok(certificates),
    }
}

#[cfg(test)]
mod tests;
