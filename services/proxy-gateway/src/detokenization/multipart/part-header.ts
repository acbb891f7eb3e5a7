import { type Charset, charsetOf } from '@sluice/sandbox';
import { type ContentKind, contentKind } from '../../http/content-type.ts';
import { readParameters } from '../../http/parameters.ts';
import { isFillable, isUtf16 } from '../body-charset.ts';

export type FieldKind = Exclude<ContentKind, 'form' | 'multipart' | 'none' | 'opaque'>;

export type PartReading =
  /** `type`: its Content-Type, which may leave the charset to the content. */
  | { mode: 'read'; name: string; kind: FieldKind; type: string | undefined }
  /** A file, or a type that is not searched. */
  | { mode: 'pass' }
  /** Parsers could disagree on what it is, so an expression in it is an error. */
  | { mode: 'refuse'; why: string; isOfCharset?: boolean };

const line = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;
const plainEncodings = ['7bit', '8bit', 'binary'];

/** Follows RFC 7578 section 4. The block does not include the empty line at its end. */
export function readPartHeader(block: string): PartReading {
  const fields = readLines(block);
  const dispositions = fields?.get('content-disposition') ?? [];
  const disposition = dispositions.length === 1 ? readParameters(dispositions[0] ?? '') : undefined;
  if (!fields || !disposition) {
    // Some parser could take the part for a file
    if (/filename/i.test(block)) return { mode: 'pass' };
    return {
      mode: 'refuse',
      why: fields ? 'its Content-Disposition is missing, repeated or malformed' : 'its header cannot be read',
    };
  }
  const { value, parameters } = disposition;
  if (parameters.some(([name]) => name.startsWith('filename'))) return { mode: 'pass' };
  const [name, ...more] = parameters.filter((parameter) => parameter[0].startsWith('name'));
  if (value !== 'form-data' || name?.[0] !== 'name' || more.length > 0) {
    return { mode: 'refuse', why: 'its Content-Disposition is not form-data with exactly one name' };
  }
  return readContent(name[1], fields);
}

function readContent(name: string, fields: ReadonlyMap<string, string[]>): PartReading {
  const types = fields.get('content-type') ?? [];
  const [type] = types;
  if (types.length > 1) return { mode: 'refuse', why: 'it has several content types' };
  const encodings = [...(fields.get('content-transfer-encoding') ?? []), ...(fields.get('content-encoding') ?? [])];
  const isEncoded = encodings.some((encoding) => !plainEncodings.includes(encoding.trim().toLowerCase()));
  const kind = kindOf(type);
  if (kind === undefined) return { mode: 'pass' };
  if (isEncoded) return { mode: 'refuse', why: 'it has a Content-Transfer-Encoding or Content-Encoding' };
  if (type !== undefined && !readParameters(type)) return { mode: 'refuse', why: 'its content type cannot be read' };
  return partCharset(kind, type, Buffer.alloc(0)) ? { mode: 'read', name, kind, type } : ofOtherCharset;
}

export const ofOtherCharset = {
  mode: 'refuse',
  why: 'its charset is not supported; use UTF-8 or a single-byte charset, or in XML and HTML a multi-byte one except ISO-2022-JP',
  isOfCharset: true,
} as const;

/** Undefined if a part in it cannot be filled. */
export function partCharset(kind: FieldKind, type: string | undefined, content: Buffer): Charset | undefined {
  const charset = charsetOf(type, content);
  return isFillable(kind, charset) && !isUtf16(charset) ? charset : undefined;
}

/** Without a type it is text (RFC 7578 section 4.4). */
function kindOf(type: string | undefined): FieldKind | undefined {
  if (type === undefined) return 'text';
  const kind = contentKind(type);
  switch (kind) {
    case 'json':
    case 'json-lines':
      return kind;
    case 'xml':
    case 'html':
    case 'csv':
    case 'text':
      return type.trim().toLowerCase().startsWith('text/') ? kind : undefined;
    default:
      return undefined;
  }
}

/** Values by lower-case name. Undefined if a line is no header line, or is folded. */
function readLines(block: string): Map<string, string[]> | undefined {
  const fields = new Map<string, string[]>();
  if (block === '') return fields;
  for (const text of block.split('\r\n')) {
    const match = line.exec(text);
    if (!match) return undefined;
    const name = (match[1] ?? '').toLowerCase();
    const values = fields.get(name);
    if (values) values.push(match[2] ?? '');
    else fields.set(name, [match[2] ?? '']);
  }
  return fields;
}
