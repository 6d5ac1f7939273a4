import { LineDiff } from '../../provenance/diff/diff-view.tsx'
import { Button } from '../../ui/button.tsx'
import type { FileText } from './drafts.ts'
import './outdated-draft.css'

interface OutdatedDraftProps {
  readonly file: string
  readonly text: string
  readonly base: FileText | null
  readonly current: FileText | null
  readonly onKeep: () => void
  readonly onDiscard: () => void
}

/** The choice between an edited text and a file that was changed meanwhile, with the differences of both. */
export function OutdatedDraft({ file, text, base, current, onKeep, onDiscard }: OutdatedDraftProps) {
  const was = base?.text ?? ''
  return (
    <section className="outdated-draft" aria-label="Changed meanwhile">
      <p role="alert">
        <strong>
          {file} was {current === null ? 'removed' : base === null ? 'created' : 'changed'} while you edited
          it.
        </strong>{' '}
        Nothing is saved until you choose.
      </p>
      {current !== null && (
        <>
          <h3 className="outdated-head">Their changes</h3>
          <LineDiff was={was} is={current.text} label="Their changes" />
        </>
      )}
      <h3 className="outdated-head">Your changes</h3>
      <LineDiff was={was} is={text} label="Your changes" />
      <div className="outdated-choice">
        <Button onClick={onKeep}>Keep my text</Button>
        <Button onClick={onDiscard}>{current === null ? 'Discard my text' : 'Use their text'}</Button>
      </div>
      <p className="form-hint">
        {current === null
          ? 'With your text, saving creates the file again.'
          : 'With your text, saving replaces theirs. To keep both, edit your text first.'}
      </p>
    </section>
  )
}
