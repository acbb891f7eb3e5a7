import { type Bytes, fromBase64, join, sha256, toHex } from './bytes.ts';

/** A line of the key file: the name of a ledger, and a key that signs for it. */
export interface Verifier {
  name: string;
  /** Four bytes, in hex: how people tell keys apart. */
  keyId: string;
  /** 32 bytes. */
  publicKey: Bytes;
}

/** What a signature of the ledger states. */
export interface Checkpoint {
  origin: string;
  size: number;
  /** In hex. */
  root: string;
  signedBy: Verifier;
}

const ed25519 = 1;

/** C2SP signed-note. @throws {Error} for a line of another form, or whose key id does not fit its key. */
export async function readKeyFile(text: string): Promise<Verifier[]> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Promise.all(lines.map((line) => readVerifierLine(line.trim())));
}

async function readVerifierLine(line: string): Promise<Verifier> {
  const [, name = '', keyId = '', text = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(line) ?? [];
  const typed = fromBase64(text);
  if (typed?.length !== 33 || typed[0] !== ed25519 || (await keyIdOf(name, typed)) !== keyId) {
    throw new Error('A line of the public keys is not a valid Ed25519 key.');
  }
  return { name, keyId, publicKey: typed.slice(1) };
}

async function keyIdOf(name: string, typedKey: Bytes): Promise<string> {
  return toHex((await sha256(join(`${name}\n`, typedKey))).slice(0, 4));
}

/** C2SP tlog-checkpoint. @throws {Error} naming the fault, unless a key of its origin has signed it. */
export async function verifyCheckpoint(note: string, verifiers: readonly Verifier[]): Promise<Checkpoint> {
  const end = note.indexOf('\n\n');
  const body = note.slice(0, end + 1);
  const [origin = '', sizeText = '', rootText = ''] = body.split('\n');
  const root = fromBase64(rootText);
  if (end === -1 || origin === '' || !/^(0|[1-9]\d{0,15})$/.test(sizeText) || root?.length !== 32) {
    throw new Error('The checkpoint is not of the form origin, size, root, signature.');
  }
  const signatures = note.slice(end + 2).split('\n');
  for (const verifier of verifiers.filter(({ name }) => name === origin)) {
    for (const line of signatures) {
      if (await isSignedBy(verifier, body, line)) {
        return { origin, size: Number(sizeText), root: toHex(root), signedBy: verifier };
      }
    }
  }
  throw new Error('No key of this ledger has signed the checkpoint.');
}

async function isSignedBy({ name, keyId, publicKey }: Verifier, body: string, line: string): Promise<boolean> {
  const [, signer, text = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
  const bytes = fromBase64(text);
  if (signer !== name || !bytes || toHex(bytes.slice(0, 4)) !== keyId) return false;
  const key = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify']);
  return crypto.subtle.verify('Ed25519', key, bytes.slice(4), join(body));
}
