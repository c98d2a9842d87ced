use super::unpredictable;

#[test]
fn names_of_folders_differ_each_time() {
    let names: Vec<_> = (0..100).map(|_| unpredictable("test")).collect();
    for (index, name) in names.iter().enumerate() {
        assert!(!names[..index].contains(name), "{} twice", name.display());
        assert!(!name.exists());
    }
}
