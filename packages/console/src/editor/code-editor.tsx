import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useId, useRef } from 'react';
import { useFault } from '../ui/faults.tsx';
import { placeIn } from '../ui/faults-in-words.ts';
import form from '../ui/form.module.css';
import styles from './code-editor.module.css';
import { type CodeFault, diagnosticOf, syntaxFaults } from './code-faults.ts';
import { completeFrom, type Names } from './completions.ts';
import { theme } from './theme.ts';
import { useView } from './use-view.ts';

interface CodeEditorProps {
  /** For screen readers, and in faults. */
  label: string;
  /** The path of the member that it sets. */
  name: string;
  code: string;
  onCode: (code: string) => void;
  names: Names;
  readOnly?: boolean;
  /** Of the last test run. */
  fault?: CodeFault | undefined;
}

/** Of CodeMirror's own keys all but Ctrl+Enter, which runs a test. */
const keys = [...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap].filter(
  ({ key }) => key !== 'Mod-Enter',
);

/** While somebody types, half a statement is no mistake yet. */
const untilMarkedMs = 600;

/** An editor of JavaScript, which marks mistakes. Tab moves on as everywhere; indentation follows the line above. */
export default function CodeEditor({ label, name, code, onCode, names, readOnly = false, fault }: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ onCode, names });
  latest.current = { onCode, names };
  const id = useId();
  const refused = useFault(name, label);
  const refusedAt = placeIn(refused);
  const marked = refused && refusedAt ? { ...refusedAt, message: refused } : fault;
  const view = useView(place, code, [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    javascript(),
    autocompletion({ override: [(context) => completeFrom(latest.current.names)(context)], icons: false }),
    keymap.of(keys),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
    EditorState.readOnly.of(readOnly),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) latest.current.onCode(state.doc.toString());
    }),
    theme,
  ]);
  useEffect(() => {
    const { current } = view;
    if (!current || current.state.doc.toString() === code) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: code } });
  }, [view, code]);
  useMarks(view, code, marked);
  useEffect(() => {
    const content = view.current?.contentDOM;
    content?.setAttribute('aria-invalid', String(refused !== undefined));
    if (refused !== undefined) content?.focus();
  }, [view, refused]);
  return (
    <div>
      <div ref={place} className={styles.place} data-invalid={refused !== undefined} />
      <p className={form.hint}>Tab leaves the editor. Ctrl+Space suggests names.</p>
      {refused && (
        <p className={form.error} id={id} role="alert">
          {refused}
        </p>
      )}
    </div>
  );
}

/** A fault is of the code that was sent, so its mark goes when somebody types. Mistakes in syntax are found in the browser. */
function useMarks(view: ReturnType<typeof useView>, code: string, fault: CodeFault | undefined): void {
  const { line, column, message } = fault ?? {};
  const sent = useRef(code);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new fault is of the present code
  useEffect(() => {
    sent.current = code;
  }, [line, column, message]);
  useEffect(() => {
    const mark = () => {
      const state = view.current?.state;
      if (!state) return;
      const found = sent.current === code && line !== undefined && message !== undefined;
      const own = found ? diagnosticOf(state, { line, column, message }) : undefined;
      view.current?.dispatch(setDiagnostics(state, own ? [own] : syntaxFaults(state)));
    };
    if (sent.current === code) return mark();
    const timer = setTimeout(mark, untilMarkedMs);
    return () => clearTimeout(timer);
  }, [view, code, line, column, message]);
}
