import { StringDecoder } from 'node:string_decoder';
import { ServiceError } from '@sluice/problems';
import { type Charset, charsetOf } from '@sluice/sandbox';

export const isUtf16 = (charset: Charset | undefined): charset is Charset =>
  charset?.name.startsWith('utf-16') === true;

/** Expressions are found and filled in UTF-8, so a body in UTF-16 is decoded before and encoded after. */
export class Utf16Recoder {
  readonly #contentType: string | undefined;
  #begun: Buffer | undefined = Buffer.alloc(0);
  #name = '';
  #decoder: TextDecoder | undefined;
  readonly #written = new StringDecoder('utf8');

  constructor(contentType: string | undefined) {
    this.#contentType = contentType;
  }

  /** @throws {ServiceError} 415 for bytes that are not UTF-16. */
  read(chunk: Buffer): Buffer {
    const bytes = this.#begun ? Buffer.concat([this.#begun, chunk]) : chunk;
    if (this.#begun && bytes.length < 2) {
      this.#begun = bytes;
      return Buffer.alloc(0);
    }
    if (this.#begun) this.#begin(bytes);
    return this.#decode(bytes, true);
  }

  end(): Buffer {
    const left = this.#begun ?? Buffer.alloc(0);
    if (this.#begun) this.#begin(left);
    return this.#decode(left, false);
  }

  write(utf8: Buffer): Buffer {
    const bytes = Buffer.from(this.#written.write(utf8), 'utf16le');
    return this.#name === 'utf-16be' ? bytes.swap16() : bytes;
  }

  #begin(bytes: Buffer): void {
    this.#begun = undefined;
    this.#name = charsetOf(this.#contentType, bytes)?.name ?? '';
    this.#decoder = new TextDecoder(this.#name, { fatal: true, ignoreBOM: true });
  }

  #decode(bytes: Buffer, stream: boolean): Buffer {
    try {
      return Buffer.from(this.#decoder?.decode(bytes, { stream }) ?? '');
    } catch (error) {
      if (error instanceof TypeError) throw notUtf16();
      throw error;
    }
  }
}

export function notUtf16(): ServiceError {
  return new ServiceError('unsupported_media_type', 'The body is not text in UTF-16, as its Content-Type says');
}
