import { type CipherGCM, createCipheriv, createDecipheriv, type DecipherGCM } from 'node:crypto';
import { bytes, integer, text } from './parameters.ts';

/** More than any honest transform needs at a time; they live until the run ends. */
const maximumCiphers = 1_000;
/** Triple DES, because card schemes still sign with it; `des3` and `des-ede3` are OpenSSL's other names. */
const supported = /^(aes-?(128|192|256)-(gcm|cbc)|des-ede3(-cbc|-ecb)?|des3)$/i;

export function cipherOperations() {
  const ciphers: (CipherGCM | DecipherGCM)[] = [];

  const open =
    (create: (algorithm: 'aes-256-gcm', key: Buffer, iv: Buffer, options: object) => CipherGCM | DecipherGCM) =>
    (algorithm: unknown, key: unknown, iv: unknown, authTagLength: unknown) => {
      if (ciphers.length >= maximumCiphers) throw new RangeError('Too many ciphers');
      if (!supported.test(text(algorithm))) {
        throw Object.assign(new TypeError(`Unknown cipher: ${algorithm}`), { code: 'ERR_CRYPTO_UNKNOWN_CIPHER' });
      }
      const options =
        authTagLength === undefined || authTagLength === null ? {} : { authTagLength: integer(authTagLength, 16) };
      return ciphers.push(create(text(algorithm).toLowerCase() as 'aes-256-gcm', bytes(key), bytes(iv), options)) - 1;
    };

  const find = (id: unknown) => {
    const cipher = ciphers[integer(id, maximumCiphers)];
    if (!cipher) throw new RangeError('The cipher belongs to an earlier invocation');
    return cipher;
  };

  return {
    clear: () => ciphers.splice(0),
    operations: {
      'cipher.encrypt': open(createCipheriv),
      'cipher.decrypt': open(createDecipheriv),
      'cipher.update': (id: unknown, data: unknown) => find(id).update(bytes(data)).toString('base64'),
      'cipher.final': (id: unknown) => find(id).final().toString('base64'),
      'cipher.getAuthTag': (id: unknown) => {
        const cipher = find(id);
        if ('getAuthTag' in cipher) return cipher.getAuthTag().toString('base64');
        throw new Error('Invalid state for operation getAuthTag');
      },
      'cipher.setAuthTag': (id: unknown, tag: unknown) => {
        const cipher = find(id);
        if (!('setAuthTag' in cipher)) throw new Error('Invalid state for operation setAuthTag');
        cipher.setAuthTag(bytes(tag));
      },
      'cipher.setAAD': (id: unknown, data: unknown) => void find(id).setAAD(bytes(data)),
      'cipher.setAutoPadding': (id: unknown, on: unknown) => void find(id).setAutoPadding(Boolean(on)),
    },
  };
}
