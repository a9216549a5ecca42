import type { Random } from "./random.ts";

export const LANGUAGES = ["en", "de", "fr", "es", "pt", "ru", "zh", "ja", "th", "ar"] as const;
export type LanguageName = (typeof LANGUAGES)[number];

interface Grammar {
  readonly subjects: readonly string[];
  readonly predicates: readonly string[];
  readonly ends: readonly string[];
  readonly between: string;
  readonly stop: string;
  /** Between sentences. */
  readonly gap: string;
  readonly preambles: readonly string[];
  readonly remark: string;
}

/** A sentence is a subject, a predicate and an end; parts come again often, whole sentences do not. */
const GRAMMARS: Record<LanguageName, Grammar> = {
  en: {
    subjects: [
      "The old pump",
      "The harbour master",
      "Her younger brother",
      "The second engine",
      "A careful reader",
      "The committee",
      "Every winter the river",
      "Nobody in the village",
    ],
    predicates: [
      "was switched off",
      "had been repaired",
      "kept the ledger open",
      "would not admit",
      "waited for the ferry",
      "understood the consequences",
      "was mentioned in the report",
      "carried the heavier load",
    ],
    ends: [
      "before the storm reached the coast",
      "because the valve was leaking",
      "although the measurements were incomplete",
      "in spite of the warning",
      "until the lights went out",
      "as the records show",
      "without any hesitation",
      "for the third time that year",
    ],
    between: " ",
    stop: ".",
    gap: " ",
    preambles: ["Sure, here is the rest:", "Continuing from where I left off:", "Certainly! Here's the continuation:"],
    remark: "I apologize, it seems that my previous message was cut off. How would you like me to continue?",
  },
  de: {
    subjects: [
      "Die alte Pumpe",
      "Der Hafenmeister",
      "Ihr jüngerer Bruder",
      "Die zweite Maschine",
      "Der Ausschuss",
      "Niemand im Dorf",
      "Jeder aufmerksame Leser",
      "Die Genossenschaft",
    ],
    predicates: [
      "wurde abgeschaltet",
      "hatte das Protokoll gelesen",
      "wollte nicht zugeben",
      "wartete auf die Fähre",
      "verstand die Folgen",
      "wurde im Bericht erwähnt",
      "trug die schwerere Last",
      "blieb stehen",
    ],
    ends: [
      "bevor der Sturm die Küste erreichte",
      "weil das Ventil undicht war",
      "obwohl die Messungen unvollständig waren",
      "trotz der Warnung",
      "bis das Licht ausging",
      "wie die Unterlagen zeigen",
      "ohne zu zögern",
      "zum dritten Mal in diesem Jahr",
    ],
    between: " ",
    stop: ".",
    gap: " ",
    preambles: ["Hier geht es weiter:", "Gerne, hier ist die Fortsetzung:"],
    remark: "Entschuldigung, meine letzte Antwort wurde offenbar abgebrochen.",
  },
  fr: {
    subjects: [
      "La vieille pompe",
      "Le capitaine du port",
      "Son frère cadet",
      "La deuxième machine",
      "Le comité",
      "Personne au village",
      "Un lecteur attentif",
    ],
    predicates: [
      "a été arrêtée",
      "avait lu le registre",
      "ne voulait pas admettre l'erreur",
      "attendait le bac",
      "comprenait les conséquences",
      "fut mentionné dans le rapport",
      "portait la charge",
    ],
    ends: [
      "avant que la tempête n'atteigne la côte",
      "parce que la vanne fuyait",
      "bien que les mesures fussent incomplètes",
      "malgré l'avertissement",
      "jusqu'à l'extinction des feux",
      "sans hésiter",
      "pour la troisième fois cette année",
    ],
    between: " ",
    stop: ".",
    gap: " ",
    preambles: ["Voici la suite :", "Bien sûr, voici la suite :"],
    remark: "Désolé, ma réponse précédente a été coupée.",
  },
  es: {
    subjects: [
      "La vieja bomba",
      "El capitán del puerto",
      "Su hermano menor",
      "La segunda máquina",
      "El comité",
      "Nadie en el pueblo",
      "Un lector atento",
    ],
    predicates: [
      "fue apagada",
      "había leído el registro",
      "no quería admitirlo",
      "esperaba el transbordador",
      "entendía las consecuencias",
      "fue mencionado en el informe",
      "llevaba la carga",
    ],
    ends: [
      "antes de que la tormenta llegara a la costa",
      "porque la válvula goteaba",
      "aunque las medidas eran incompletas",
      "a pesar del aviso",
      "hasta que se apagó la luz",
      "sin dudarlo",
      "por tercera vez ese año",
    ],
    between: " ",
    stop: ".",
    gap: " ",
    preambles: ["Claro, aquí continúa el texto:", "Continuación:"],
    remark: "Lo siento, mi respuesta anterior fue cortada.",
  },
  pt: {
    subjects: [
      "A velha bomba",
      "O capitão do porto",
      "O irmão mais novo",
      "A segunda máquina",
      "O comitê",
      "Ninguém na aldeia",
      "Um leitor atento",
    ],
    predicates: [
      "foi desligada",
      "tinha lido o registro",
      "não queria admitir",
      "esperava a balsa",
      "entendia as consequências",
      "foi mencionado no relatório",
      "levava a carga",
    ],
    ends: [
      "antes que a tempestade chegasse à costa",
      "porque a válvula vazava",
      "embora as medições fossem incompletas",
      "apesar do aviso",
      "até que a luz se apagou",
      "sem hesitar",
      "pela terceira vez naquele ano",
    ],
    between: " ",
    stop: ".",
    gap: " ",
    preambles: ["Claro, continuando:", "Continuação do texto:"],
    remark: "Desculpe, minha resposta anterior foi cortada.",
  },
  ru: {
    subjects: [
      "Старый насос",
      "Начальник порта",
      "Её младший брат",
      "Второй двигатель",
      "Комитет",
      "Никто в деревне",
      "Внимательный читатель",
    ],
    predicates: [
      "был выключен",
      "прочитал весь журнал",
      "не хотел признавать ошибку",
      "ждал парома",
      "понимал последствия",
      "был упомянут в отчёте",
      "нёс тяжёлый груз",
    ],
    ends: [
      "до того как шторм достиг берега",
      "потому что клапан протекал",
      "хотя измерения были неполными",
      "несмотря на предупреждение",
      "пока не погас свет",
      "без колебаний",
      "в третий раз за этот год",
    ],
    between: " ",
    stop: ".",
    gap: " ",
    preambles: ["Продолжаю:", "Вот продолжение текста:"],
    remark: "Извините, мой предыдущий ответ оборвался.",
  },
  zh: {
    subjects: ["旧水泵", "港口负责人", "她的弟弟", "第二台发动机", "委员会", "村里没有人", "细心的读者"],
    predicates: [
      "在夜里被关掉",
      "已经读完了全部记录",
      "不愿意承认错误",
      "一直等着渡船",
      "明白这样做的后果",
      "在报告中被提到",
      "承担了更重的负荷",
    ],
    ends: [
      "因为阀门一直漏水",
      "尽管测量并不完整",
      "直到灯光熄灭",
      "没有丝毫犹豫",
      "这是今年的第三次",
      "正如档案所显示",
      "在暴风雨到达海岸之前",
    ],
    between: ",",
    stop: "。",
    gap: "",
    preambles: ["好的,继续:", "接着上文:"],
    remark: "抱歉,我之前的回复被截断了。",
  },
  ja: {
    subjects: [
      "古いポンプは",
      "港の責任者は",
      "彼女の弟は",
      "二台目のエンジンは",
      "委員会は",
      "村の人々は",
      "注意深い読者は",
    ],
    predicates: [
      "嵐が来る前に",
      "弁が漏れていたので",
      "測定が不完全だったが",
      "警告にもかかわらず",
      "明かりが消えるまで",
      "記録が示すように",
      "少しもためらわずに",
    ],
    ends: [
      "止められました",
      "渡し船を待っていました",
      "結果を理解していました",
      "報告書に書かれました",
      "重い荷物を運びました",
      "誤りを認めませんでした",
      "帳簿を開いていました",
    ],
    between: "",
    stop: "。",
    gap: "",
    preambles: ["はい、続きです:", "続きを書きます:"],
    remark: "申し訳ありません、前の回答が途中で切れてしまいました。",
  },
  th: {
    subjects: ["เครื่องสูบน้ำเก่า", "หัวหน้าท่าเรือ", "น้องชายของเธอ", "เครื่องยนต์ตัวที่สอง", "คณะกรรมการ", "ผู้อ่านที่ละเอียด"],
    predicates: ["ถูกปิดลง", "อ่านบันทึกทั้งหมด", "ไม่ยอมรับความผิด", "รอเรือข้ามฟาก", "เข้าใจผลที่ตามมา", "ถูกกล่าวถึงในรายงาน"],
    ends: ["ก่อนพายุจะมาถึงชายฝั่ง", "เพราะวาล์วรั่ว", "แม้การวัดจะไม่สมบูรณ์", "จนกระทั่งไฟดับ", "โดยไม่ลังเล", "เป็นครั้งที่สามในปีนี้"],
    between: "",
    stop: "",
    gap: " ",
    preambles: ["ต่อจากเดิม:"],
    remark: "ขออภัย ข้อความก่อนหน้านี้ถูกตัด",
  },
  ar: {
    subjects: ["المضخة القديمة", "مدير الميناء", "أخوها الأصغر", "المحرك الثاني", "اللجنة", "القارئ المتأني"],
    predicates: [
      "توقفت عن العمل",
      "قرأ السجل كله",
      "لم يعترف بالخطأ",
      "انتظر العبارة",
      "فهم العواقب",
      "ذكر في التقرير",
    ],
    ends: [
      "قبل أن تصل العاصفة إلى الساحل",
      "لأن الصمام كان يسرب",
      "رغم أن القياسات ناقصة",
      "حتى انطفأت الأضواء",
      "دون أي تردد",
      "للمرة الثالثة هذا العام",
    ],
    between: " ",
    stop: ".",
    gap: " ",
    preambles: ["تكملة النص:", "متابعة:"],
    remark: "عذرا، تم قطع رسالتي السابقة.",
  },
};

/** Sentences, none of which occurs twice. */
export function sentences(random: Random, language: LanguageName, count: number): string[] {
  const { subjects, predicates, ends, between, stop } = GRAMMARS[language];
  const all = new Set<string>();
  while (all.size < count)
    all.add([random.pick(subjects), random.pick(predicates), random.pick(ends)].join(between) + stop);
  return [...all];
}

export function paragraph(random: Random, language: LanguageName, count: number): string {
  return sentences(random, language, count).join(GRAMMARS[language].gap);
}

export function preamble(random: Random, language: LanguageName): string {
  return random.pick(GRAMMARS[language].preambles);
}

export function remark(language: LanguageName): string {
  return GRAMMARS[language].remark;
}
