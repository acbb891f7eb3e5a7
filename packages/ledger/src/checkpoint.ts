import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { hashBytes } from './hashing.ts';

/** A signed statement about a tree (C2SP tlog-checkpoint). */
export interface Checkpoint {
  origin: string;
  size: number;
  root: Buffer;
  /** Rows at the beginning that retention has dropped. Checkpoints from before this was signed do not say it. */
  dropped?: number | undefined;
}

export interface Verifier {
  name: string;
  publicKey: KeyObject;
}

const ed25519 = 1;
const rawKeyBytes = 32;
const wholeNumber = /^(0|[1-9]\d{0,15})$/;
const droppedPrefix = 'dropped ';
/** What precedes the 32 bytes of an Ed25519 public key in DER (RFC 8410). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Also the name of the ledger's signing key. */
export function originOf(ledgerOrigin: string, tenantId: string): string {
  return `${ledgerOrigin}/ledger/${tenantId}`;
}

/** @throws {Error} unless the text is an Ed25519 private key in PKCS#8 PEM. */
export function readPrivateKey(pem: string): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('The key must be an Ed25519 key');
  return key;
}

/** @throws {Error} unless the text is 32 bytes in base64. */
export function readPublicKey(base64: string): KeyObject {
  const raw = Buffer.from(base64, 'base64');
  if (raw.length !== rawKeyBytes) throw new Error('A public key of the ledger is 32 bytes in base64');
  return createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: 'der', type: 'spki' });
}

/** 32 bytes in base64. */
export function writePublicKey(key: KeyObject): string {
  const spki = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'der', type: 'spki' });
  return spki.subarray(spkiPrefix.length).toString('base64');
}

/** C2SP signed-note. */
export function verifierLine({ name, publicKey }: Verifier): string {
  const typed = Buffer.concat([Buffer.from([ed25519]), Buffer.from(writePublicKey(publicKey), 'base64')]);
  return `${name}+${keyIdOf(name, typed).toString('hex')}+${typed.toString('base64')}`;
}

/** @throws {Error} for a malformed line, or one whose key id does not match its key. */
export function readVerifierLine(line: string): Verifier {
  const [, name = '', id = '', text = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(line.trim()) ?? [];
  const typed = Buffer.from(text, 'base64');
  const isKey = typed[0] === ed25519 && keyIdOf(name, typed).toString('hex') === id;
  if (!isKey) throw new Error('A line of the key file is no Ed25519 verifier line');
  return { name, publicKey: readPublicKey(typed.subarray(1).toString('base64')) };
}

function keyIdOf(name: string, typedKey: Buffer): Buffer {
  return createHash('sha256').update(`${name}\n`).update(typedKey).digest().subarray(0, 4);
}

/** A signed note (C2SP tlog-checkpoint, signed-note), with `dropped` as an extension line. */
export function signCheckpoint({ origin, size, root, dropped }: Checkpoint, privateKey: KeyObject): string {
  const extension = dropped === undefined ? '' : `${droppedPrefix}${dropped}\n`;
  const body = `${origin}\n${size}\n${root.toString('base64')}\n${extension}`;
  const typed = Buffer.concat([Buffer.from([ed25519]), Buffer.from(writePublicKey(privateKey), 'base64')]);
  const signature = Buffer.concat([keyIdOf(origin, typed), sign(null, Buffer.from(body), privateKey)]);
  return `${body}\n— ${origin} ${signature.toString('base64')}\n`;
}

/** @throws {Error} that says what is wrong, unless a verifier whose name is the origin has signed the checkpoint. */
export function verifyCheckpoint(note: string, verifiers: readonly Verifier[]): Checkpoint {
  const end = note.indexOf('\n\n');
  if (end === -1) throw new Error('The checkpoint has no signature');
  const body = note.slice(0, end + 1);
  const [origin = '', sizeText = '', rootText = '', ...extensions] = body.split('\n');
  const root = Buffer.from(rootText, 'base64');
  if (origin === '' || !wholeNumber.test(sizeText) || root.length !== hashBytes) {
    throw new Error('The checkpoint is not of the form origin, size, root');
  }
  const dropped = readDropped(extensions);
  const signatures = note
    .slice(end + 2)
    .split('\n')
    .filter(Boolean);
  const signers = verifiers.filter((verifier) => signatures.some((line) => isSignedBy(verifier, body, line)));
  if (signers.length === 0) throw new Error('No key of the key file has signed the checkpoint');
  if (!signers.some(({ name }) => name === origin)) throw new Error(`No key of ${origin} has signed the checkpoint`);
  return { origin, size: Number(sizeText), root, ...(dropped !== undefined && { dropped }) };
}

/** Ignores other extension lines, as their form asks. */
function readDropped(extensions: readonly string[]): number | undefined {
  const [line, ...others] = extensions.filter((extension) => extension.startsWith(droppedPrefix));
  if (line === undefined) return undefined;
  const count = line.slice(droppedPrefix.length);
  if (others.length > 0 || !wholeNumber.test(count)) {
    throw new Error('The checkpoint does not say how many rows retention has dropped in one line "dropped <n>"');
  }
  return Number(count);
}

function isSignedBy({ name, publicKey }: Verifier, body: string, line: string): boolean {
  const [, signer, text = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
  const bytes = Buffer.from(text, 'base64');
  const typed = Buffer.concat([Buffer.from([ed25519]), Buffer.from(writePublicKey(publicKey), 'base64')]);
  const isFrom = signer === name && bytes.subarray(0, 4).equals(keyIdOf(name, typed));
  return isFrom && verify(null, Buffer.from(body), publicKey, bytes.subarray(4));
}
