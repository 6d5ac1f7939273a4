import type { QueryClient } from '@tanstack/react-query'
import { readRecordsById } from '../api/records-by-id.ts'
import { server } from '../api/server.ts'
import { countOf } from '../ui/format.ts'
import { showError, showSuccess } from '../ui/toasts.tsx'
import { deleteAll, restoreAll } from './change-records.ts'
import { applyChanges } from './apply-changes.ts'
import type { EditPort } from './edit-store.ts'
import type { Reading, StoredRecord } from './save-edits.ts'
import { ApiError } from '../api/api-error.ts'

/** Returns the connection to the server for the edits of an actor. */
export function editPort(client: QueryClient, actor: string): EditPort {
  return {
    read: readRecords,
    write: async (records, tag) => {
      await server.records.upsert(records, { actor, ifMatch: tag })
    },
    remove: async (ids) => {
      const deleted = await deleteAll(ids, actor)
      showSuccess(`${countOf(deleted, 'record')} deleted`)
      void client.invalidateQueries({ queryKey: ['records'] })
    },
    restore: async (ids) => {
      const restored = await restoreAll(ids, actor)
      showSuccess(`${countOf(restored, 'record')} restored`)
      void client.invalidateQueries({ queryKey: ['records'] })
    },
    known: (changes) => applyChanges(client, changes),
    showMessage: (message) => showError(new Error(message)),
  }
}

function readRecords(ids: readonly string[], fields: readonly string[]): Promise<Reading> {
  const [only, ...others] = ids
  // In a URL path, these two ids would be relative path segments.
  const isInPath = only !== undefined && others.length === 0 && only !== '.' && only !== '..'
  return isInPath ? readOne(only, fields) : readMany(ids, fields)
}

async function readOne(id: string, fields: readonly string[]): Promise<Reading> {
  try {
    const { record, version } = await server.records.getVersioned(id, { fields })
    return { records: new Map([[id, record]]), tag: version }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { records: new Map(), tag: null }
    throw error
  }
}

async function readMany(ids: readonly string[], fields: readonly string[]): Promise<Reading> {
  const found: readonly StoredRecord[] = await readRecordsById(ids, fields)
  return { records: new Map(found.map((record) => [String(record['id']), record])), tag: null }
}
