import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--post)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--get)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--put)' },
  { tag: [tags.comment], color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.className], color: 'var(--patch)' },
]);

/** The look of code, with the variables of `base.css`, which apply in the shadow root too. */
export const theme = [
  syntaxHighlighting(colors),
  EditorView.theme({
    '&': {
      backgroundColor: 'var(--page)',
      color: 'var(--ink)',
      fontSize: 'var(--small)',
      height: '100%',
    },
    '&.cm-focused': { outline: 'none' }, // the frame around it shows the focus
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
    '.cm-content': { caretColor: 'var(--ink)', padding: '0.6rem 0' },
    '.cm-cursor': { borderLeftColor: 'var(--ink)' },
    '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--soft)', borderRight: '1px solid var(--line)' },
    '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
    '.cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 12%, transparent)' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
      backgroundColor: 'color-mix(in srgb, var(--accent) 24%, transparent)',
    },
    '.cm-matchingBracket': { backgroundColor: 'color-mix(in srgb, var(--accent) 26%, transparent) !important' },
    '.cm-tooltip': {
      border: '1px solid var(--line)',
      borderRadius: '8px',
      backgroundColor: 'var(--above)',
      color: 'var(--ink)',
      boxShadow: 'var(--shadow-large)',
      overflow: 'hidden',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '14rem' },
    '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--ink)' },
    '.cm-tooltip.cm-completionInfo': { padding: '0.4rem 0.6rem', fontFamily: 'var(--sans)' },
    // Replaces images of the original, because they are data URLs, which the page's policy refuses.
    '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
    '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--good-soft) !important' },
    '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft) !important', paddingLeft: '0.4rem' },
    '.cm-changedText, .cm-insertedText': {
      background: 'none !important',
      borderBottom: '2px solid var(--good)',
    },
    '.cm-deletedText': { background: 'none !important', borderBottom: '2px solid var(--bad)' },
    '.cm-collapsedLines': {
      background: 'var(--raised)',
      color: 'var(--soft)',
      padding: '0.2rem 0.8rem',
      fontFamily: 'var(--sans)',
    },
  }),
];
