//! Creates the workspace of the tasks: a folder of files, a git repository, the data of the private servers, and an
//! empty folder for the memory server. Its content is the same in every run.
//!
//! Its path is fixed, because tasks and stored snippets contain paths. One process uses it at a time.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{private, repository};
use crate::product::Checked;

/// The path of the workspace.
pub(super) const ROOT: &str = "/tmp/toolsmith-first-try";
/// The file that the process using the workspace locks.
const LOCK: &str = "/tmp/toolsmith-first-try.lock";

const ORDERS: u32 = 60;
/// Numbers of the orders whose files are truncated.
const BROKEN: [u32; 2] = [17, 42];
const PRODUCTS: u32 = 25;
const SENSORS: u32 = 240;
const LOG_LINES: u32 = 120;
const PAIRS: u32 = 200;

/// A picture of one pixel, as PNG in base64.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const CUSTOMERS: [(&str, &str); 12] = [
    ("Ada", "Lyon"),
    ("Bruno", "Oslo"),
    ("Clara", "Porto"),
    ("Dario", "Lyon"),
    ("Elif", "Turin"),
    ("Farid", "Oslo"),
    ("Greta", "Porto"),
    ("Hugo", "Lyon"),
    ("Ines", "Turin"),
    ("Jonas", "Oslo"),
    ("Kira", "Lyon"),
    ("Luca", "Porto"),
];

/// The workspace, locked; deleted on drop.
pub(super) struct Workspace {
    root: PathBuf,
    _lock: File,
}

impl Workspace {
    /// Waits until no other process uses the workspace, and creates it.
    pub(super) fn take() -> Checked<Self> {
        let lock = File::create(LOCK).map_err(|error| format!("{LOCK}: {error}"))?;
        lock.lock().map_err(|error| format!("{LOCK}: {error}"))?;
        let workspace = Self { root: ROOT.into(), _lock: lock };
        workspace.renew()?;
        Ok(workspace)
    }

    /// Deletes the workspace and creates it again.
    pub(super) fn renew(&self) -> Checked<()> {
        self.remove()?;
        files(&self.root.join("shop"))?;
        repository::make(&self.root.join("repository"))?;
        private::data(&self.root.join("private"))?;
        let folder = self.root.join("memory");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
    }

    fn remove(&self) -> Checked<()> {
        match fs::remove_dir_all(&self.root) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("{}: {error}", self.root.display()))
            }
            _ => Ok(()),
        }
    }

    /// Reads a file of the workspace.
    pub(super) fn read(&self, path: &str) -> Checked<String> {
        fs::read_to_string(self.root.join(path)).map_err(|error| format!("{path}: {error}"))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // The next process deletes leftovers.
        let _ = self.remove();
    }
}

/// Writes a file, creating its parent folders.
fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> Checked<()> {
    let path = folder.join(name);
    let failed = |error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(failed)?;
    fs::write(&path, bytes).map_err(failed)
}

fn files(shop: &Path) -> Checked<()> {
    sales(shop)?;
    measurements(shop)?;
    notes(shop)?;
    lists(shop)?;
    media(shop)?;
    inbox(shop)
}

fn cents(product: u32) -> u32 {
    250 + product * 735 % 1900
}

fn sales(shop: &Path) -> Checked<()> {
    for number in 1..=ORDERS {
        let line = |k: u32| {
            let product = (number * 5 + k * 11) % PRODUCTS + 1;
            json!({
                "product": format!("P-{product:02}"),
                "count": (number + k) % 4 + 1,
                "price": f64::from(cents(product)) / 100.0,
            })
        };
        let order = json!({
            "id": format!("O-{number:03}"),
            "customer": format!("C-{:02}", number * 7 % 12 + 1),
            "day": format!("2025-03-{:02}", number % 28 + 1),
            "lines": (0..=number % 3).map(line).collect::<Vec<_>>(),
        });
        let mut text = format!("{order:#}\n");
        if BROKEN.contains(&number) {
            text.truncate(text.len() / 2);
        }
        write(shop, &format!("orders/order-{number:03}.json"), text)?;
    }
    let mut customers = "id,name,city\n".to_owned();
    for (number, (name, city)) in (1..).zip(CUSTOMERS) {
        customers.push_str(&format!("C-{number:02},{name},{city}\n"));
    }
    write(shop, "customers.csv", customers)?;
    let product = |number: u32| {
        json!({
            "id": format!("P-{number:02}"),
            "name": format!("{} {}", ["Lamp", "Chair", "Mug", "Rug", "Clock"][number as usize % 5], number),
            "price": f64::from(cents(number)) / 100.0,
            "stock": number * 7 % 23,
        })
    };
    let products: Vec<Value> = (1..=PRODUCTS).map(product).collect();
    write(shop, "products.json", format!("{:#}\n", json!(products)))
}

fn measurements(shop: &Path) -> Checked<()> {
    for number in 1..=SENSORS {
        let tenths = 150 + number * 37 % 120;
        let status = if number % 19 == 4 { "fault" } else { "ok" };
        let text = format!(
            "room: r{}\ncelsius: {}.{}\nstatus: {status}\n",
            number % 8 + 1,
            tenths / 10,
            tenths % 10
        );
        write(shop, &format!("sensors/sensor-{number:03}.txt"), text)?;
    }
    for (file, name) in (1..).zip(["checkout", "search", "stock"]) {
        let mut log = String::new();
        for line in 1..=LOG_LINES {
            let level = if line % (5 + file * 2) == 0 { "ERROR" } else { "INFO" };
            log.push_str(&format!(
                "2025-03-04T08:{:02}:{:02}Z {level} request={} took={}ms\n",
                line / 60,
                line % 60,
                line * 3 + file,
                20 + line * 53 * file % 400
            ));
        }
        // After a final line break, the filesystem server would count an empty last line.
        write(shop, &format!("logs/{name}.log"), log.trim_end())?;
    }
    Ok(())
}

fn notes(shop: &Path) -> Checked<()> {
    let notes = [
        ("readme.md", "# Notes\n\n- [x] begin\n- [ ] go on\n"),
        ("plans/spring/sale.md", "# Sale\n\n- [ ] choose ten lamps\n- [x] print signs\n- [ ] ask Clara\n"),
        ("plans/spring/window.txt", "blue paper\n"),
        ("plans/autumn.md", "# Autumn\n\n- [x] nothing yet\n"),
        ("people/suppliers/north/list.md", "# North\n\n- [ ] call Oslo\n"),
        ("people/suppliers/north/prices.csv", "item,price\nwood,4\n"),
        ("people/team.txt", "Elif\nHugo\n"),
        ("drafts/old.md", "- [ ] never mind\n"),
        ("drafts/older/oldest.md", "- [ ] never mind either\n"),
    ];
    notes.into_iter().try_for_each(|(name, text)| write(shop, &format!("notes/{name}"), text))
}

fn lists(shop: &Path) -> Checked<()> {
    let wanted = [
        "orders/order-003.json",
        "orders/order-061.json",
        "customers.csv",
        "notes/plans/winter.md",
        "notes/people/team.txt",
        "logs/search.log",
        "logs/payments.log",
        "sensors/sensor-240.txt",
        "sensors/sensor-241.txt",
        "products.json",
    ];
    write(shop, "wanted.txt", wanted.join("\n") + "\n")?;
    let meetings = json!([
        { "title": "Stock", "time": "09:30", "zone": "Asia/Tokyo" },
        { "title": "Prices", "time": "17:45", "zone": "Asia/Kolkata" },
        { "title": "Landing", "time": "11:00", "zone": "Mars/Olympus" },
        { "title": "Team", "time": "08:15", "zone": "America/Phoenix" },
        { "title": "Review", "time": "02:05", "zone": "Pacific/Honolulu" },
        { "title": "Nowhere", "time": "10:10", "zone": "Europe/Atlantis" },
    ]);
    write(shop, "meetings.json", format!("{meetings:#}\n"))?;
    let wishes = json!({
        "known": ["Ada", "Elif", "Hugo", "Kira"],
        "wishes": [
            { "who": "Ada", "wish": "a green lamp" },
            { "who": "Zoe", "wish": "a boat" },
            { "who": "Hugo", "wish": "a rug" },
            { "who": "Ada", "wish": "two mugs" },
            { "who": "Milo", "wish": "a clock" },
            { "who": "Kira", "wish": "a chair" },
        ],
    });
    write(shop, "wishes.json", format!("{wishes:#}\n"))?;
    let owners = json!({
        "Ana Reyes": ["checkout", "search"],
        "Ben Okafor": ["stock"],
        "Chen Li": ["search", "docs"],
        "Dora Weiss": ["checkout"],
    });
    write(shop, "owners.json", format!("{owners:#}\n"))?;
    let mut pairs = "left,right\n".to_owned();
    for number in 1..=PAIRS {
        pairs.push_str(&format!("{},{}\n", number * 17 % 101, number * 29 % 97));
    }
    write(shop, "pairs.csv", pairs)
}

fn media(shop: &Path) -> Checked<()> {
    let pixel = STANDARD.decode(PIXEL).map_err(|error| error.to_string())?;
    write(shop, "media/dot.png", pixel)?;
    // A sound with no samples, as WAV.
    let sound =
        b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0";
    write(shop, "media/tone.wav", sound)?;
    write(shop, "media/blob.bin", [0, 1, 2, 3, 250, 251, 252])
}

/// Writes the incoming files that tasks for the private servers process.
fn inbox(shop: &Path) -> Checked<()> {
    write(shop, "inbox/inspections.csv", include_str!("inbox/inspections.csv"))?;
    write(shop, "inbox/damaged.txt", include_str!("inbox/damaged.txt"))
}
