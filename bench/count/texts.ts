/** Text of a kind, of about `bytes` bytes, different for every `seed`. */
export type Text = (bytes: number, seed: number) => string;

const WORDS =
  "the of and a to in is that it was for on are with as his they be at one have this from or had by word but what some we can out other were all there when up use your how said an each she which do their time if will way about many then them write would like so these her long make thing see him two has look more day could go come did my sound no most number who over know water than call first people may down side been now find any new work part take get place made live where after back little only round man year came show every good me give our under name very through just form much great think say help low line before turn cause same mean differ move right boy old too does tell sentence set three want air well also play small end put home read hand port large spell add even land here must big high such follow act why ask men change went light kind off need house picture try us again animal point mother world near build self earth father".split(
    " ",
  );
const CHINESE = [
  ..."的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开美总从无情己面最女但现前些所同日手又行意动方期它头经长儿回位分爱老因很给名法间斯知世什两次使身者被高已亲其进此话常与活正感",
];
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export const TEXTS: Readonly<Record<string, Text>> = {
  English: grown((random) => `${pick(random, WORDS)}${random() < 0.08 ? ". " : " "}`),
  code: grown((random) => {
    const name = `${pick(random, WORDS)}${capital(pick(random, WORDS))}`;
    return `  const ${name} = await this.${pick(random, WORDS)}(${Math.floor(random() * 1000)}, "${pick(random, WORDS)}");\n`;
  }),
  JSON: grown(
    (random) =>
      `{"${pick(random, WORDS)}":${Math.floor(random() * 1e6)},"${pick(random, WORDS)}":"${pick(random, WORDS)}"},`,
  ),
  logs: grown(
    (random) =>
      `2025-01-${10 + Math.floor(random() * 20)}T10:${10 + Math.floor(random() * 50)}:00.${Math.floor(random() * 1000)}Z INFO [${pick(random, WORDS)}] request ${Math.floor(random() * 1e7)} took ${Math.floor(random() * 900)}ms\n`,
  ),
  digits: grown((random) => `${Math.floor(random() * 1e6)},`),
  hex: grown((random) => `${Math.floor(random() * 2 ** 32).toString(16)} `),
  base64: grown((random) => pick(random, [...BASE64])),
  Chinese: grown((random) => `${pick(random, CHINESE)}${random() < 0.06 ? "，" : ""}`),
  Russian: grown(
    (random) =>
      `${pick(random, "вчера мы долго говорили о том почему программа работает так медленно дети играли во дворе".split(" "))} `,
  ),
  Hindi: grown(
    (random) => `${pick(random, "रास्ता लंबा था और आसमान साफ था जब हम पुराने शहर पहुंचे कृपया मुझे समझाइए".split(" "))} `,
  ),
  emoji: grown((random) => pick(random, [..."😀🎉🚀👍🔥✅📦🧵🌍"])),
};

/** 100,000 characters without a place to split: what a quadratic merge needs minutes for. */
export const HOSTILE: Readonly<Record<string, string>> = {
  "one letter": "a".repeat(100_000),
  "one capital": "A".repeat(100_000),
  "blanks and a letter": `${" ".repeat(99_999)}x`,
  "line breaks": "\n".repeat(100_000),
  "one sign": ";".repeat(100_000),
  "random letters": made(100_000, (random) => String.fromCharCode(97 + Math.floor(random() * 26))),
  "random Chinese": made(100_000, (random) => String.fromCharCode(0x4e00 + Math.floor(random() * 20_000))),
  "one emoji": "😀".repeat(50_000),
  "combining marks": "e\u0301\u0302".repeat(33_333),
  "all of Unicode": made(100_000, (random) => String.fromCharCode(Math.floor(random() * 0xd800))),
};

function grown(piece: (random: () => number) => string): Text {
  return (bytes, seed) => {
    const random = randomOf(seed);
    const parts: string[] = [];
    for (let length = 0; length < bytes; ) {
      const part = piece(random);
      parts.push(part);
      length += Buffer.byteLength(part);
    }
    return parts.join("");
  };
}

function made(characters: number, character: (random: () => number) => string): string {
  const random = randomOf(1);
  return Array.from({ length: characters }, () => character(random)).join("");
}

function pick(random: () => number, list: readonly string[]): string {
  return list[Math.floor(random() * list.length)] ?? "";
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function randomOf(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return ((state >>> 8) & 0xffffff) / 2 ** 24;
  };
}
