/** JSON text as a body. It is sent unchanged, because `JSON.stringify` would change numbers such as 1e400. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
