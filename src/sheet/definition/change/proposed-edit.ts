import { createHash } from 'node:crypto'
import { ValidationError } from '../../../errors/service-error.ts'
import type { ChangedFile } from '../../../store/definition-change.ts'
import type { FieldChanges } from '../../../store/field-changes.ts'
import type { ProposedDefinition } from '../../../store/stored-proposal.ts'

type Requests = Omit<FieldChanges, 'actor'>

interface Proposed {
  readonly files: readonly ChangedFile[]
  readonly changes: Requests | null
  readonly reverts: string | null
}

/** A change of files that requires their texts of before, with the changes of fields that it requests. */
interface ProposedEdit {
  readonly files: readonly {
    readonly path: string
    readonly bytes: Uint8Array | null
    readonly ifMatch: readonly string[] | null
    readonly ifAbsent: boolean
  }[]
  readonly changes?: Requests
  readonly reverts: string | null
}

/** Converts a change of the definition to JSON that the store keeps. Throws ValidationError for a file that is not UTF-8. */
export function toProposedDefinition({ files, changes, reverts }: Proposed): ProposedDefinition {
  return {
    files: files.map(({ path, before, after }) => ({
      path,
      before: textOf(path, before),
      after: textOf(path, after),
    })),
    changes:
      changes === null
        ? null
        : {
            renamed: [...changes.renamed],
            removed: [...changes.removed],
            converted: [...changes.converted].map(([name, { onInvalid }]) => [name, onInvalid] as const),
            restored: [...(changes.restored ?? [])],
          },
    reverts,
  }
}

/**
 * Converts a stored proposal to the change that it proposes, which requires that its files are as they were then. `confirm` replaces the
 * numbers of values that may be lost, by the names of removed fields.
 */
export function toEdit(
  { files, changes, reverts }: ProposedDefinition,
  confirm: ReadonlyMap<string, number>,
): ProposedEdit {
  return {
    files: files.map(({ path, before, after }) => ({
      path,
      bytes: after === null ? null : Buffer.from(after),
      ifMatch: before === null ? null : [createHash('sha256').update(before).digest('hex')],
      ifAbsent: before === null,
    })),
    reverts,
    ...(changes !== null && {
      changes: {
        renamed: new Map(changes.renamed),
        removed: new Map(changes.removed.map(([name, count]) => [name, confirm.get(name) ?? count])),
        converted: new Map(changes.converted.map(([name, onInvalid]) => [name, { onInvalid }])),
        restored: new Map(changes.restored),
      },
    }),
  }
}

function textOf(path: string, bytes: Uint8Array | null): string | null {
  if (bytes === null) return null
  const text = Buffer.from(bytes).toString()
  if (Buffer.compare(Buffer.from(text), bytes) === 0) return text
  throw new ValidationError(`${path} is not UTF-8 text, and cannot be changed by a proposal; edit the file`)
}
