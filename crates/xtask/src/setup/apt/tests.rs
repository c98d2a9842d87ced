use super::{Source, parse_lines, parse_stanzas, stanza};

#[test]
fn lines_with_and_without_options() {
    let text = "# a comment\n\
                deb http://mirror.example/debian bookworm main contrib\n\
                deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm-updates main\n\
                deb-src http://mirror.example/debian bookworm main\n\
                deb broken\n";
    let sources = parse_lines(text);
    assert_eq!(sources.len(), 2, "two binary entries: {sources:?}");
    assert_eq!(sources[0].suites, ["bookworm"], "the suite");
    assert_eq!(sources[0].components, ["main", "contrib"], "the components");
    assert_eq!(sources[0].signed_by, None, "no key named");
    assert_eq!(
        sources[1].signed_by.as_deref(),
        Some("/k.gpg"),
        "the key named"
    );
}

#[test]
fn stanzas_with_comments_lists_and_embedded_keys() {
    let text = "Types: deb deb-src\n\
                # where it was made from\n\
                URIs: http://a.example/debian http://b.example/debian\n\
                Suites: bookworm bookworm-updates\n\
                Components: main\n\
                Signed-By:\n\
                \x20-----BEGIN\n\
                \x20.\n\
                \x20-----END\n\
                \n\
                Types: deb\n\
                Enabled: no\n\
                URIs: http://c.example\n\
                Suites: x\n";
    let sources = parse_stanzas(text);
    let uris: Vec<&str> = sources.iter().map(|source| source.uri.as_str()).collect();
    assert_eq!(
        uris,
        ["http://a.example/debian", "http://b.example/debian"],
        "one each, the disabled left out"
    );
    assert_eq!(
        sources[0].suites,
        ["bookworm", "bookworm-updates"],
        "both suites"
    );
    let key = sources[0].signed_by.as_deref().unwrap();
    assert!(
        key.starts_with("-----BEGIN") && key.ends_with("-----END"),
        "the key whole: {key}"
    );
}

#[test]
fn a_written_stanza_reads_back() {
    let source = Source {
        uri: "http://mirror.example/debian".to_owned(),
        suites: vec!["unstable".to_owned()],
        components: vec!["main".to_owned(), "universe".to_owned()],
        signed_by: Some("/usr/share/keyrings/k.gpg".to_owned()),
    };
    assert_eq!(
        parse_stanzas(&stanza(&source, &["unstable"])),
        [source],
        "same entry"
    );
}
