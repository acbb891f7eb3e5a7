const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Pads with zeros to `length`. The value must not be negative, and a number must be a safe integer. */
export function toBase62(value: bigint | number, length: number): string {
  return (typeof value === 'bigint' ? bigToBase62(value) : smallToBase62(value)).padStart(length, '0');
}

/** Reads at most eight digits, from `start` to the end. */
export function fromBase62(text: string, start: number): number {
  let value = 0;
  for (let i = start; i < text.length; i++) value = value * 62 + digitOf(text.charCodeAt(i));
  return value;
}

function digitOf(code: number): number {
  if (code <= 0x39) return code - 0x30;
  return code <= 0x5a ? code - 0x41 + 10 : code - 0x61 + 36;
}

function bigToBase62(value: bigint): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text;
}

function smallToBase62(value: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = digits.charAt(rest % 62) + text;
  return text;
}
