import type { Piece } from "../../src/core/ask.ts";
import { asArray, asObject, type JsonObject } from "../../src/core/json.ts";

/** A generated conversation: the body of a chat request, and what of it costs tokens. The same seed gives the same conversation. */
export interface Conversation {
  readonly body: JsonObject;
  readonly pieces: readonly Piece[];
}

interface Turn {
  readonly role: string;
  readonly text: string;
  readonly call: { readonly name: string; readonly args: string } | null;
}

/** Programs that talk to a model: each has its own instructions and tools, the same in all its conversations. */
const PROGRAMS = 8;

/** Prose, code, logs, data and a dozen scripts, with and without tools, from ten to some ten thousand tokens. */
export function conversation(seed: number): Conversation {
  const random = randomOf(seed);
  const { instructions, tools } = programOf(random.int(1, PROGRAMS));
  const turns: Turn[] = instructions === "" ? [] : [{ role: "system", text: instructions, call: null }];
  const subjects = Array.from({ length: random.int(1, 3) }, () => random.pick(SUBJECTS));
  const pairs = random.chance(0.3) ? 0 : random.int(1, 10);
  for (let i = 0; i < pairs; i++) {
    turns.push({ role: "user", text: passage(random, subjects), call: null });
    const tool = random.chance(0.5) ? tools[random.int(0, tools.length - 1)] : undefined;
    if (tool === undefined) turns.push({ role: "assistant", text: passage(random, subjects), call: null });
    else {
      const name = tool.function.name;
      turns.push({ role: "assistant", text: "", call: { name, args: JSON.stringify(record(random, 1)) } });
      turns.push({ role: "tool", text: passage(random, subjects), call: null });
      turns.push({ role: "assistant", text: passage(random, subjects), call: null });
    }
  }
  turns.push({ role: "user", text: passage(random, subjects), call: null });
  return { body: bodyOf(turns, tools), pieces: piecesOf(turns, tools) };
}

/** The requests of a conversation, one for each turn in which the model is asked. */
export function requestsOf({ body, pieces }: Conversation): Conversation[] {
  const messages = asArray(body.messages);
  return messages.flatMap((message, i) => {
    const role = asObject(message)?.role;
    if (role !== "user" && role !== "tool") return [];
    let opened = 0;
    const upTo = pieces.filter((piece) => {
      if (piece.kind === "text" && piece.opens) opened++;
      return opened <= i + 1;
    });
    return [{ body: { ...body, messages: messages.slice(0, i + 1) }, pieces: upTo }];
  });
}

function programOf(seed: number) {
  const random = randomOf(-seed);
  const instructions = random.chance(0.8) ? prose(random, "english", random.int(2, 30)) : "";
  const tools = random.chance(0.6) ? Array.from({ length: random.int(1, 10) }, () => toolOf(random)) : [];
  return { instructions, tools };
}

function bodyOf(turns: readonly Turn[], tools: readonly JsonObject[]): JsonObject {
  const messages = turns.map(({ role, text, call }, at): JsonObject => {
    if (role === "tool") return { role, tool_call_id: `call_${at - 1}`, content: text };
    if (call === null) return { role, content: text };
    const calls = [{ id: `call_${at}`, type: "function", function: { name: call.name, arguments: call.args } }];
    return { role, content: text, tool_calls: calls };
  });
  return { model: "m", messages, ...(tools.length > 0 ? { tools: [...tools] } : {}) };
}

function piecesOf(turns: readonly Turn[], tools: readonly JsonObject[]): Piece[] {
  const pieces: Piece[] = tools.map((tool) => ({ kind: "tool_definition", json: JSON.stringify(tool) }));
  for (const { role, text, call } of turns) {
    pieces.push({ kind: "text", role, text, opens: true });
    if (call !== null) pieces.push({ kind: "tool_call", ...call });
  }
  return pieces;
}

/** A repeatable source of numbers in [0, 1) (mulberry32). */
function randomOf(seed: number) {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    /** Both ends included. */
    int: (low: number, high: number): number => low + Math.floor(next() * (high - low + 1)),
    chance: (share: number): boolean => next() < share,
    pick: <T>(list: readonly [T, ...T[]]): T => list[Math.floor(next() * list.length)] ?? list[0],
    /** Many small, few large. */
    size: (most: number): number => Math.max(1, Math.floor(most ** next())),
  };
}
type Random = ReturnType<typeof randomOf>;

type Subject = (random: Random) => string;

function passage(random: Random, subjects: readonly Subject[]): string {
  const parts = Array.from({ length: random.int(1, 2) }, () => {
    const subject = random.chance(0.75) ? subjects[random.int(0, subjects.length - 1)] : random.pick(SUBJECTS);
    return (subject ?? SUBJECTS[0])(random);
  });
  return parts.join("\n\n");
}

const LANGUAGES = {
  english:
    "the house stands by a river that runs down from hills where sheep graze all summer; people say nothing ever happens here, but every letter tells another story about children who left, came back and stayed. Please explain why this function returns the wrong value when its argument is empty. I would rather have a short answer first and details afterwards, thank you. Because nobody measured it, we could not decide whether larger buffers help. Weather reports promised rain, however the afternoon turned out bright and windy. Remember to check permissions before deploying anything to production, since mistakes are expensive there",
  german:
    "der Fluss fließt langsam durch die Ebene, während über den Dächern der Stadt schon die ersten Lichter brennen. Könntest du mir bitte erklären, warum die Übersetzung dieses Satzes so schwierig ist? Natürlich müssen wir zuerst die Größe der Datei prüfen, bevor wir weitere Änderungen vornehmen dürfen",
  french:
    "les élèves étaient déjà partis quand le professeur est arrivé à l'école, où il n'y avait plus personne. Pourriez-vous m'expliquer comment régler ce problème sans perdre les données déjà enregistrées? Ça dépend évidemment de la façon dont le système a été configuré",
  russian:
    "вчера вечером мы долго говорили о том, почему программа работает так медленно. Пожалуйста, проверьте настройки сервера и напишите мне, если что-нибудь изменится. Дети играли во дворе, а старики сидели на скамейке и вспоминали прошлое",
  greek:
    "η θάλασσα ήταν ήρεμη και ο ουρανός καθαρός όταν φύγαμε από το λιμάνι. Παρακαλώ εξηγήστε μου πώς λειτουργεί αυτό το πρόγραμμα",
  arabic:
    "كان الطريق طويلا وكانت السماء صافية عندما وصلنا إلى المدينة القديمة. من فضلك اشرح لي كيف يعمل هذا البرنامج ولماذا توقف عن العمل أمس",
  hebrew: "הדרך הייתה ארוכה והשמיים היו בהירים כאשר הגענו אל העיר העתיקה. בבקשה הסבר לי איך התוכנה הזאת עובדת",
  hindi: "रास्ता लंबा था और आसमान साफ था जब हम पुराने शहर पहुंचे। कृपया मुझे समझाइए कि यह प्रोग्राम कैसे काम करता है और कल क्यों रुक गया",
  thai: "เมื่อวานนี้เราเดินทางไปที่เมืองเก่าริมแม่น้ำและพบว่าทุกอย่างเปลี่ยนไปมาก กรุณาอธิบายวิธีการทำงานของโปรแกรมนี้",
  chinese:
    "昨天晚上我们讨论了为什么这个程序运行得这么慢。请你解释一下这个函数的返回值，并且检查服务器的设置。孩子们在院子里玩耍，老人坐在长椅上回忆过去的时光。",
  japanese:
    "昨日の夜、なぜこのプログラムがこんなに遅いのかについて話し合いました。サーバーの設定を確認して、変更があれば教えてください。子供たちは庭で遊んでいました。",
  korean:
    "어제 저녁에 우리는 왜 이 프로그램이 이렇게 느린지 이야기했습니다. 서버 설정을 확인하고 변경 사항이 있으면 알려 주세요. 아이들은 마당에서 놀고 있었습니다",
} as const;
type Language = keyof typeof LANGUAGES;
const UNSPACED: readonly Language[] = ["thai", "chinese", "japanese"];

function prose(random: Random, language: Language, sentences: number): string {
  const unspaced = UNSPACED.includes(language);
  const words = unspaced ? [...LANGUAGES[language]] : LANGUAGES[language].split(" ");
  const out: string[] = [];
  for (let i = 0; i < sentences; i++) {
    const from = random.int(0, words.length - 1);
    const length = random.int(5, unspaced ? 40 : 18);
    const sentence = Array.from({ length }, (_, j) => {
      // Mostly as written, now and then a word from somewhere else.
      const at = random.chance(0.7) ? from + j : random.int(0, words.length - 1);
      return words[at % words.length] ?? "";
    });
    out.push(sentence.join(unspaced ? "" : " "));
  }
  return out.join(unspaced ? "。" : ". ");
}

const NAMES =
  "user order item index count total session buffer stream parser request response handler config cache token window message result value node tree edge graph queue worker thread socket client server proxy route table column record field schema model label metric event timer retry limit budget".split(
    " ",
  ) as [string, ...string[]];

function identifier(random: Random): string {
  const words = Array.from({ length: random.int(1, 3) }, () => random.pick(NAMES));
  if (random.chance(0.3)) return words.join("_");
  return words.map((word, i) => (i === 0 ? word : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)).join("");
}

function lines(random: Random, line: (i: number) => string, most = 60): string {
  return Array.from({ length: random.size(most) }, (_, i) => line(i)).join("\n");
}

const typescript: Subject = (random) =>
  lines(random, () => {
    const [a, b, c] = [identifier(random), identifier(random), identifier(random)];
    return random.pick([
      `export async function ${a}(${b}: string, ${c}: number): Promise<void> {`,
      `  const ${a} = await ${b}.${c}(${random.int(0, 5000)}, { signal });`,
      `    if (${a} === undefined || ${b}.length > ${random.int(0, 99)}) return null;`,
      `  for (const [${a}, ${b}] of Object.entries(${c})) {`,
      `      throw new Error(\`${a} failed: \${${b}}\`);`,
      "  }",
      "}",
      "",
      `// ${prose(random, "english", 1)}`,
    ]);
  });

const python: Subject = (random) =>
  lines(random, () => {
    const [a, b, c] = [identifier(random), identifier(random), identifier(random)];
    return random.pick([
      `def ${a}(self, ${b}=None, *${c}):`,
      `    """${prose(random, "english", 1)}"""`,
      `        ${a} = [${b}["${c}"] for ${b} in self.${a}s if ${b} is not None]`,
      `    return {"${a}": ${b}, "${c}": ${random.int(0, 100000)}}`,
      `    assert ${a} == ${b}, f"{${a}!r} != {${b}!r}"`,
      "",
    ]);
  });

const logs: Subject = (random) =>
  lines(random, () => {
    const clock = `${random.int(10, 23)}:${random.int(10, 59)}:${random.int(10, 59)}.${random.int(100, 999)}`;
    const where = `${identifier(random)}.${identifier(random)}`;
    return random.pick([
      `2025-0${random.int(1, 9)}-1${random.int(0, 9)}T${clock}Z INFO  [${where}] request ${random.int(1, 1e6)} done in ${random.int(1, 9999)}ms status=200`,
      `2025-0${random.int(1, 9)}-1${random.int(0, 9)} ${clock} ERROR ${where}: connection to 10.0.${random.int(0, 255)}.${random.int(0, 255)}:${random.int(1024, 65535)} refused`,
      `    at ${identifier(random)} (/srv/app/src/${identifier(random)}.js:${random.int(1, 900)}:${random.int(1, 80)})`,
      `level=warn ts=17${random.int(10_000_000, 99_999_999)} caller=${where} id=${hex(random, 16)} bytes=${random.int(1, 1e7)}`,
    ]);
  });

function record(random: Random, depth: number): JsonObject {
  const out: JsonObject = {};
  for (let i = random.int(1, 5); i > 0; i--) {
    const deeper = depth > 0 && random.chance(0.4);
    out[identifier(random)] = deeper
      ? record(random, depth - 1)
      : random.pick([random.int(0, 1e6), random.next() * 100, prose(random, "english", 1), hex(random, 8), true, null]);
  }
  return out;
}

function hex(random: Random, length: number): string {
  return Array.from({ length }, () => random.int(0, 15).toString(16)).join("");
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const EMOJI = [..."😀🎉🚀👍🏽❤️🔥✅⚠️📦🧵👩‍💻🌍"] as [string, ...string[]];

const data: Subject = (random) =>
  random.pick<Subject>([
    () => JSON.stringify(Array.from({ length: random.size(30) }, () => record(random, 2))),
    () =>
      JSON.stringify(
        Array.from({ length: random.size(20) }, () => record(random, 2)),
        null,
        2,
      ),
    () => lines(random, () => Array.from({ length: 6 }, () => random.int(0, 99999)).join(",")),
    () => lines(random, () => `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-${hex(random, 12)}`, 30),
    () => Array.from({ length: random.size(3000) }, () => BASE64[random.int(0, 63)]).join(""),
    () => lines(random, () => `| ${identifier(random)} | ${random.int(0, 999)} | ${prose(random, "english", 1)} |`, 30),
  ])(random);

const chat: Subject = (random) =>
  lines(
    random,
    () =>
      `${prose(random, "english", 1)} ${Array.from({ length: random.int(1, 6) }, () => random.pick(EMOJI)).join("")}`,
    12,
  );

const markdown: Subject = (random) =>
  lines(
    random,
    () =>
      random.pick([
        `## ${prose(random, "english", 1)}`,
        `- **${identifier(random)}**: ${prose(random, "english", 1)} — see [docs](https://example.com/${identifier(random)}#L${random.int(1, 500)})`,
        `1. \`${identifier(random)}()\` ${prose(random, "english", 1)}…`,
        "",
        "```ts\nconst x = 1;\n```",
      ]),
    30,
  );

const english: Subject = (random) => prose(random, "english", random.size(60));
const abroad: Subject = (random) =>
  prose(random, random.pick(Object.keys(LANGUAGES) as [Language, ...Language[]]), random.size(40));

const SUBJECTS: [Subject, ...Subject[]] = [english, english, typescript, python, logs, data, markdown, abroad, chat];

function toolOf(random: Random) {
  const properties: JsonObject = {};
  for (let i = random.int(1, 6); i > 0; i--)
    properties[identifier(random)] = random.pick<JsonObject>([
      { type: "string", description: prose(random, "english", 1) },
      { type: "integer", minimum: 0, maximum: random.int(1, 1000) },
      { type: "array", items: { type: "string" } },
      { type: "string", enum: [identifier(random), identifier(random)] },
    ]);
  const parameters = { type: "object", properties, required: Object.keys(properties).slice(0, 2) };
  const description = prose(random, "english", random.int(1, 3));
  return { type: "function", function: { name: identifier(random), description, parameters } };
}
