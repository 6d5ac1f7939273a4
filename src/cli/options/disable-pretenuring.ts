import { setFlagsFromString } from 'node:v8'

/**
 * Has V8 make new objects among the young ones only, whose garbage is found within milliseconds. By itself it comes to make
 * kinds of objects that tend to outlive a few collections among the old ones (pretenuring), and it decides that while the young
 * generation is still small, beside the hundreds of records that a run has under way. From then on each of them, and all
 * that it refers to, is collected only with everything else, and every small collection has to copy it.
 *
 * To be called when what a run takes has been loaded: of Node's own modules, those that were compiled ahead of time for other flags
 * are compiled again.
 */
export function keepObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
