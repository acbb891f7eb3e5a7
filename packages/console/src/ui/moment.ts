/** A moment as the browser's field has it: in the reader's zone, without naming it, to the minute. Empty for no moment. */
export function localText(value: string | undefined): string {
  const moment = new Date(value ?? '');
  if (Number.isNaN(moment.getTime())) return '';
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
