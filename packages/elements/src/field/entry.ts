import type { Format } from './digits.ts';
import type { Part } from './siblings.ts';

/** One input of a field: how it formats what is typed, and the value that it gives. */
export interface Entry {
  title: string;
  attributes: Record<string, string>;
  /** Absent for text that is shown as it was typed. */
  format?: Format;
  /** The text to show once the person has left the input. */
  settle?(text: string): string;
  /**
   * Undefined while the text is not complete.
   *
   * @param number the text of the input for the number, if this is part of a card.
   */
  read(text: string, number?: string): Part['data'];
  /**
   * Whether complete text is also right, where that would tell the page about the value: it is judged only once the
   * person has left the input, so that the page does not hear of each key.
   */
  isRight?(text: string): boolean;
  /** Set if what is right depends on the number, which may be typed later. */
  followsNumber?: true;
  /** What a number may reveal: its network's `name` is shown to the person, the rest is sent to the page. */
  tell?(text: string, isLeft: boolean): { name: string; brand?: string; last4?: string };
}
