import { StringDecoder } from 'node:string_decoder';
import { type Charset, charsetNamed, startBytes } from '@sluice/sandbox';
import { isUtf16, notUtf16 } from '../body-charset.ts';

/**
 * Finds the charset of a streamed body by its start. Expressions are found and filled in UTF-8, so UTF-16 is decoded
 * before and encoded after.
 */
export class StreamCharset {
  readonly #charsetOf: (start: Buffer) => Charset | undefined;
  #start: Buffer | undefined = Buffer.alloc(0);
  #charset: Charset | undefined;
  #decoder: TextDecoder | undefined;
  readonly #written = new StringDecoder('utf8');

  constructor(charsetOf: (start: Buffer) => Charset | undefined) {
    this.#charsetOf = charsetOf;
  }

  /** Of what {@link read} returns. Undefined if the body's charset is unknown. */
  get charset(): Charset | undefined {
    return this.#decoder ? charsetNamed('utf-8') : this.#charset;
  }

  /** Returns nothing until the start is complete. @throws {ServiceError} 415 for bytes that are not UTF-16. */
  read(chunk: Buffer): Buffer {
    if (!this.#start) return this.#decode(chunk, true);
    const start = this.#start.length === 0 ? chunk : Buffer.concat([this.#start, chunk]);
    if (start.length >= startBytes) return this.#begin(start, true);
    this.#start = start;
    return Buffer.alloc(0);
  }

  end(): Buffer {
    return this.#start ? this.#begin(this.#start, false) : this.#decode(Buffer.alloc(0), false);
  }

  write(bytes: Buffer): Buffer {
    if (!this.#decoder) return bytes;
    const utf16 = Buffer.from(this.#written.write(bytes), 'utf16le');
    return this.#charset?.name === 'utf-16be' ? utf16.swap16() : utf16;
  }

  #begin(start: Buffer, stream: boolean): Buffer {
    this.#start = undefined;
    this.#charset = this.#charsetOf(start);
    if (isUtf16(this.#charset)) {
      this.#decoder = new TextDecoder(this.#charset.name, { fatal: true, ignoreBOM: true });
    }
    return this.#decode(start, stream);
  }

  #decode(bytes: Buffer, stream: boolean): Buffer {
    if (!this.#decoder) return bytes;
    try {
      return Buffer.from(this.#decoder.decode(bytes, { stream }));
    } catch (error) {
      if (error instanceof TypeError) throw notUtf16();
      throw error;
    }
  }
}
