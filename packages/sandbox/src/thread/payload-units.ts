/** The main thread parses and walks the values of a payload at once, so it counts this much for each value. */
const leastUnitsOfValue = 50;

const [quote, backslash, comma, bracket, brace] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** How much of its run's limit a payload uses: its length, or more if it has very many values. */
export function payloadUnits(json: string): number {
  return Math.max(json.length, leastUnitsOfValue * valuesIn(json));
}

/** Counts containers and their members, however short, but nothing within strings. */
function valuesIn(json: string): number {
  let values = 1;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const c = json.charCodeAt(at);
    if (c === quote) isInString = !isInString;
    else if (isInString) at += c === backslash ? 1 : 0;
    else if (c === comma || c === bracket || c === brace) values += 1;
  }
  return values;
}
