import { useMemo } from 'react'
import type { SheetContract } from '../../api/contract.ts'
import { useCodeMirror } from '../../ui/use-code-mirror.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { sqlExtensions } from './sql-extensions.ts'

interface SqlEditorProps {
  readonly contract: SheetContract
  readonly text: string
  readonly onChange: (text: string) => void
  readonly onRun: () => void
  readonly onLeave: () => void
}

/** The editor of the statement. Ctrl+Enter runs it, Escape leaves it. */
export function SqlEditor({ contract, text, onChange, ...keys }: SqlEditorProps) {
  const latest = useLatest(keys)
  const extensions = useMemo(
    () =>
      sqlExtensions(contract, {
        onRun: () => latest.current.onRun(),
        onLeave: () => latest.current.onLeave(),
      }),
    [contract, latest],
  )
  const { host } = useCodeMirror({ text, extensions, onChange })
  return <div ref={host} className="sql-editor" />
}
