declare module 'html-encoding-sniffer' {
  /** @returns the name of a WHATWG encoding, in the standard's spelling. */
  export default function sniff(bytes: Uint8Array, options: { xml: boolean; defaultEncoding: string }): string;
}
