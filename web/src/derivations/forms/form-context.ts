import { useRef, useState } from 'react'
import type { YamlEdit, YamlPath } from '../../../../src/contract/yaml/edit/yaml-edit.ts'
import type { SheetContract } from '../../api/contract.ts'
import { editForm, readForm, type FormMembers, type LastEdit } from './form-text.ts'

/** A form for a part of a file: the file itself, or a step. */
export interface FormPart {
  readonly contract: SheetContract
  readonly targets: readonly string[]
  /** The place of the part in the file. */
  readonly at: YamlPath
  readonly members: FormMembers
  /** Changes the file. `make` gets the members of the whole file as they are by then. */
  readonly edit: (make: (file: FormMembers) => readonly YamlEdit[]) => void
}

interface FormEditing {
  readonly edit: FormPart['edit']
  /** The reason for which the last edit could not be made; null if it was. */
  readonly problem: string | null
}

/** Returns what edits a text in place. Several edits before the next render all count. */
export function useFormEditing(text: string, onText: (text: string) => void): FormEditing {
  const [refused, setRefused] = useState<{ readonly text: string; readonly problem: string } | null>(null)
  const seen = useRef(text)
  const now = useRef(text)
  const last = useRef<LastEdit | null>(null)
  const edit: FormPart['edit'] = (make) => {
    // A text from outside replaces that of the edits.
    if (seen.current !== text) {
      seen.current = text
      now.current = text
    }
    const reading = readForm(now.current)
    if (!('members' in reading)) return
    const edits = make(reading.members)
    if (edits.length === 0) return
    const edited = editForm(now.current, edits, last.current)
    if ('problem' in edited) {
      setRefused({ text: now.current, problem: edited.problem })
      return
    }
    setRefused(null)
    last.current = edited.last
    now.current = edited.last.text
    onText(edited.last.text)
  }
  return { edit, problem: refused?.text === text ? refused.problem : null }
}
