/** What models say about a cut instead of going on, and in front of going on. Only a head of 300 characters is ever looked at. */
const HEAD = 300;

/** A remark on having been cut, on going on, or on there being nothing to go on with. To add a language: one line. */
const REMARKS: readonly RegExp[] = [
  /\b(?:message|response|reply|answer|output|text|it)\b.{0,40}\b(?:cut off|cut short|truncated|interrupted|incomplete)\b/i,
  /\b(?:apologi[sz]e|sorry)\b.{0,80}\b(?:cut|truncat|interrupt|incomplete|confusion|continu)/i,
  /\b(?:how|what) (?:can|may|would|should|do) (?:i|you)\b.{0,40}\b(?:help|assist|continue|like me)/i,
  /\b(?:could|can|would) you (?:please )?(?:clarify|provide|share|tell me)\b/i,
  /\bi(?:'m| am|'ll| will)? (?:\w+ ){0,3}continue\b/i,
  /\b(?:nachricht|antwort|text)\b.{0,40}\b(?:abgeschnitten|abgebrochen|unterbrochen)\b/i,
  /\b(?:entschuldig|tut mir leid)\w*.{0,80}(?:abgebroch|abgeschnitt|unterbroch)/i,
  /(?:désolé|excuse).{0,80}(?:coup|interromp|tronqu)/i,
  /(?:lo siento|disculp|perdón).{0,80}(?:cort|interrump|trunc)/i,
  /(?:desculp|sinto muito).{0,80}(?:cort|interromp|trunc)/i,
  /(?:извин|прост).{0,80}(?:обрыв|оборв|прерв|обрез)/i,
  /(?:抱歉|对不起|對不起).{0,40}(?:截断|中断|打断|截斷|中斷)/,
  /(?:죄송|미안).{0,60}(?:끊|중단|잘)/,
  /(?:عذرا|عذرًا|آسف|أعتذر).{0,60}(?:قطع|انقط)/,
  /(?:ขออภัย|ขอโทษ).{0,80}(?:ตัด|ขาด)/,
  /(?:क्षमा|माफ़).{0,80}(?:कट|अधूर|रुक)/,
  /(?:申し訳|すみません).{0,40}(?:途切|中断|途中)/,
];

/** What announces the rest, in the languages that models announce it in. */
const ANNOUNCEMENTS =
  /\b(?:continu\w*|rest of|remaind\w*|carry(?:ing)? on|pick(?:ing)? up|left off|resum\w*|weiter\w*|fortsetzung|fortfahr\w*|suite|reprend\w*|sigue|contin[uú]a\w*|continuaci[oó]n|prosegu\w*|vervolg\w*|verder|dalej|devam)\b|продолж|далее|继续|接着|繼續|続き|続け|계속|이어서|متابعة|تكملة|ต่อ|आगे|जारी|συνεχ/iu;

const SURE =
  /^(?:sure|certainly|of course|okay|ok|absolutely|natürlich|gerne?|klar|bien sûr|claro|certo|zeker|конечно|好的|はい)\s?[,!.:，、！：]/iu;

/** A head that is about the cut and not of the reply. */
export function isRemark(head: string): boolean {
  const text = head.slice(0, HEAD);
  return REMARKS.some((remark) => remark.test(text));
}

/** A line in front of the reply that only announces it: "Sure, here is the rest:", "Hier geht es weiter:". */
export function isPreamble(line: string): boolean {
  const text = line.trim().slice(0, HEAD);
  return /[:：.…!。]$/u.test(text) && (ANNOUNCEMENTS.test(text) || (SURE.test(text) && /[:：!]$/u.test(text)));
}
