import { server } from '../../api/server.ts'
import { messageOf } from '../../api/api-error.ts'
import { showError, showSuccess } from '../../ui/toasts.tsx'

/** Marks the stale values of a derivation file that was saved as fresh, and shows the outcome. */
export async function keepFresh(file: string, actor: string): Promise<void> {
  try {
    await server.runs.start({ keep_fresh: file }, { actor })
    showSuccess(`Saved ${file}. Its values count as fresh.`)
  } catch (error) {
    showError(new Error(`Saved ${file}, but its values could not be marked as fresh: ${messageOf(error)}`))
  }
}
