export type Bytes = Uint8Array<ArrayBuffer>;

/** Undefined for any other spelling, because decoders differ in the characters that they ignore. */
export function fromBase64(text: string): Bytes | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return toBase64(bytes) === text ? bytes : undefined;
  } catch (error) {
    if (error instanceof DOMException) return undefined; // what atob throws for a text that is no Base64
    throw error;
  }
}

function toBase64(bytes: Bytes): string {
  return btoa(String.fromCharCode(...bytes));
}

export function toHex(bytes: Bytes): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function join(...parts: readonly (Bytes | string)[]): Bytes {
  const bytes = parts.map((part) => (typeof part === 'string' ? new TextEncoder().encode(part) : part));
  const joined = new Uint8Array(bytes.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of bytes) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}
