//! Fenced blocks of a Markdown file.

/// One block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    /// The heading that it stands below.
    pub(crate) heading: String,
    /// What its fence says it is.
    pub(crate) language: String,
    /// Its lines.
    pub(crate) text: String,
}

/// All of them, in their order.
pub(crate) fn blocks(markdown: &str) -> Vec<Block> {
    let (mut found, mut heading, mut open) = (Vec::new(), String::new(), None::<Block>);
    for line in markdown.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                let (language, text) = (language.trim().to_string(), String::new());
                open = Some(Block { heading: heading.clone(), language, text });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) if line.starts_with('#') => {
                heading = line.trim_start_matches('#').trim().to_string();
            }
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "a block without an end");
    found
}

impl Block {
    /// The commands of one program, with the lines on which they go on, without comments.
    pub(crate) fn commands(&self, program: &str) -> Vec<String> {
        let text = self.text.replace("\\\n", " ");
        let begins = |line: &&str| line.split(' ').next() == Some(program);
        let plain = |line: &str| line.split(" #").next().unwrap_or_default().trim().to_string();
        text.lines().filter(begins).map(plain).collect()
    }
}

#[test]
fn blocks_have_their_heading_and_their_lines() {
    let text = "# One\n```sh\n# no heading\nmayday a \\\n  --b   # why\ncurl c\n```\n\
                ## Two\ntext\n```\nd\n```\n";
    let found = blocks(text);
    let heads: Vec<_> = found.iter().map(|b| (&*b.heading, &*b.language)).collect();
    assert_eq!(heads, [("One", "sh"), ("Two", "")]);
    assert_eq!(found[0].commands("mayday"), ["mayday a    --b"]);
    assert_eq!(found[1].text, "d\n");
}
