/** JSON in place of a body. It is sent as it is, because `JSON.stringify` would change numbers such as 1e400. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
