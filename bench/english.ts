const WORDS =
  `the of and to in is that it was for on are with as his they at be this from have or by one had not but what all
were when we there can an your which their said if do will each about how up out them then she many some so these would other into
has more her two like him see time could no make than first been its who now people my made over did down only way find use may
water long little very after words called just where most know get through back much before go good new write our used me man too
any day same right look think also around another came come work three word must because does part even place well such here take
why things help put years different away again off went old number great tell men say small every found still between name should
home big give air line set own under read last never us left end along while might next sound below saw something thought both few
those always show large often together asked house world going want school important until form food keep children feet land side
without boy once animal life enough took four head above kind began almost live page got earth need far hand high year mother light
country father let night picture being study second soon story since white ever paper hard near sentence better best across during
today however sure knew try told young sun thing whole hear example heard several change answer room sea against top turned learn
point city play toward five using himself usually money seen car morning body upon family later turn move face door cut done group
true half red fish plants living black eat short united run book gave order open ground cold really table remember tree course
front space inside ago sad early learned brought close nothing though idea before lived became add become grow draw yet less wind
behind cannot letter among able dog shown mean english rest perhaps certain six feel fire ready green built special ran full town
complete oh person hot anything hold state list stood hundred ten fast felt kept notice strong voice probably area horse matter
stand box start that class piece surface river common stop am talk whether fine`.split(/\s+/);

/** A small generator of numbers (mulberry32), since prompts must be the same in every run. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

const SENTENCES = Array.from({ length: 2000 }, (_, index) => {
  const next = numbers(index);
  const words = Array.from({ length: 6 + (next() % 14) }, () => WORDS[next() % WORDS.length] ?? "");
  const text = words.join(" ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}. `;
});

/** English of about that many bytes, as far as grammar does not matter: about a token to a word. The same seed gives the same text. */
export function english(seed: number, bytes: number): string {
  const next = numbers(seed);
  const sentences: string[] = [];
  for (let length = 0; length < bytes; ) {
    const sentence = SENTENCES[next() % SENTENCES.length] ?? "";
    sentences.push(sentence);
    length += sentence.length;
  }
  return sentences.join("");
}
