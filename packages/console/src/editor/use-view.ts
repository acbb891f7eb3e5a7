import type { Extension } from '@codemirror/state';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { type RefObject, useEffect, useRef } from 'react';

/**
 * An editor in a shadow root, where its styles are constructed sheets. In the page itself they would be a style
 * element, which the page's policy refuses.
 */
export function useView(
  place: RefObject<HTMLDivElement | null>,
  doc: string,
  extensions: Extension,
): RefObject<EditorView | undefined> {
  const view = useRef<EditorView>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what changes later is told to the editor, which keeps its history
  useEffect(() => {
    const host = document.createElement('div');
    host.style.height = '100%';
    place.current?.append(host);
    const root = host.attachShadow({ mode: 'open' });
    view.current = new EditorView({ state: EditorState.create({ doc, extensions }), parent: root, root });
    return () => {
      view.current?.destroy();
      host.remove();
    };
  }, []);
  return view;
}
