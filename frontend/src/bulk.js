// One action on many documents, in steps that the API takes: so the page can say how far it is.
import { post } from "./api.js";

const AT_ONCE = 100;

/**
 * Do `action` (`{action, tags?, …}`) to documents by `ids`, or to all that match `filter`. `onStep(count)` is called with
 * the number done so far. Resolves to `{changed, failed}`: ids, and `{id, code, message}`.
 */
export async function runBulk({ ids, filter }, action, onStep = () => {}, send = post) {
  const changed = [];
  const failed = [];
  const take = (reply) => {
    changed.push(...reply.changed);
    failed.push(...reply.failed);
    onStep(changed.length + failed.length);
    return reply.next;
  };
  if (filter) {
    let after = null;
    do after = take(await send("/documents/bulk", { ...action, filter, ...(after ? { after } : {}) }));
    while (after);
  } else {
    for (let start = 0; start < ids.length; start += AT_ONCE) take(await send("/documents/bulk", { ...action, ids: ids.slice(start, start + AT_ONCE) }));
  }
  return { changed, failed };
}
