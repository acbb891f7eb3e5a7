import { Sluice } from '@sluice/sdk';
import { headerPrefix } from '../../api/client.ts';
import { CsvDownload } from '../../ui/csv-download.tsx';
import type { AuditSearch } from './audit-search.ts';

/** The service writes the export as CSV to who asks for that. */
const sluice = new Sluice({
  console: true,
  headerPrefix,
  fetch: (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('Accept', 'text/csv');
    return fetch(input, { ...init, headers });
  },
});

/** The rows that match the filters, of any number, in the order of the ledger. */
export function LogCsv({ filters }: { filters: Omit<AuditSearch, 'start'> }) {
  return (
    <CsvDownload
      name="sluice-audit-log"
      needs="log:read"
      collect={async ({ signal, onProgress }) => {
        const { body } = await sluice.logs.export(filters, { signal });
        const file = await toBlob(body, (bytes) => onProgress(sizeText(bytes)));
        return { file, said: `The audit log was saved: ${sizeText(file.size)}` };
      }}
    />
  );
}

/** Browsers move blobs out of memory, so the export may be larger than it. */
async function toBlob(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  onSize: (bytes: number) => void,
): Promise<Blob> {
  const parts: Blob[] = [];
  let bytes = 0;
  const reader = body?.getReader();
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    parts.push(new Blob([read.value]));
    bytes += read.value.length;
    onSize(bytes);
  }
  return new Blob(parts, { type: 'text/csv' });
}

const kilobytes = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 0 });
const megabytes = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 });

function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? kilobytes.format(Math.ceil(bytes / 1_000)) : megabytes.format(bytes / 1_000_000);
}
