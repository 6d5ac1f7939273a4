import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { HistoryAnswer } from '../../../../src/wire/definition/change.ts'
import { messageOf } from '../../api/api-error.ts'
import { definitionChangeQuery, definitionHistoryQuery } from '../../api/queries.ts'
import { LineDiff } from '../../provenance/diff/diff-view.tsx'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/form-error.tsx'
import { Moment } from '../../ui/moment.tsx'
import './file-versions.css'

type Change = HistoryAnswer['changes'][number]

interface FileVersionsProps {
  readonly file: string
  /** Whether the file has changes that are not saved, so that no version can be restored. */
  readonly hasDraft: boolean
  /** Begins a draft with an earlier text; null where the file cannot be edited now. */
  readonly onRestore: ((text: string) => void) | null
}

/** The changes of a file, newest first, each with its differences and a button that restores the text from before. */
export function FileVersions({ file, hasDraft, onRestore }: FileVersionsProps) {
  const { data, error } = useQuery(definitionHistoryQuery)
  const path = `derivations/${file}`
  const changes = data?.changes.filter(({ files }) => files.some((each) => each.path === path)) ?? []
  if (error !== null) return <FormError text={messageOf(error)} />
  if (changes.length === 0) return <p className="form-hint">No change is known.</p>
  return (
    <>
      {hasDraft && onRestore !== null && (
        <p className="form-hint">To restore a version, save or discard your changes first.</p>
      )}
      <ul className="file-versions">
        {changes.map((change) => (
          <li key={change.id}>
            <Version change={change} path={path} onRestore={hasDraft ? null : onRestore} />
          </li>
        ))}
      </ul>
    </>
  )
}

interface VersionProps {
  readonly change: Change
  readonly path: string
  readonly onRestore: FileVersionsProps['onRestore']
}

function Version({ change: { id, at, actor, note, reverts, files }, path, onRestore }: VersionProps) {
  const [isOpen, setIsOpen] = useState(false)
  const change = files.find((each) => each.path === path)
  const verb = change?.before === null ? 'Added' : change?.after === null ? 'Removed' : 'Changed'
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        {verb} <Moment at={at} /> {actor === null ? 'in the file' : <>by {actor}</>}
        {reverts !== null && ', as an undo'}
        {note !== null && <span className="form-hint">{note}</span>}
      </summary>
      {isOpen && <Texts id={id} path={path} onRestore={onRestore} />}
    </details>
  )
}

function Texts({ id, path, onRestore }: Pick<VersionProps, 'path' | 'onRestore'> & { readonly id: string }) {
  const { data, error } = useQuery(definitionChangeQuery(id))
  if (error !== null) return <FormError text={messageOf(error)} />
  const found = data?.files.find((each) => each.path === path)
  if (found === undefined) return <p className="form-hint">Reading…</p>
  const { text_before: before, text_after: after } = found
  const isLost = (before === null && found.before !== null) || (after === null && found.after !== null)
  return (
    <>
      {isLost ? (
        <p className="form-hint">The text is no longer kept.</p>
      ) : (
        <LineDiff was={before ?? ''} is={after ?? ''} />
      )}
      {before !== null && onRestore !== null && (
        <Button onClick={() => onRestore(before)}>Restore the text from before…</Button>
      )}
    </>
  )
}
