/** ESLint's `-- reason` of a directive; without one, nobody can tell later whether the exception still holds. */
const disableWithReason = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { missing: 'Say why: `eslint-disable-… rule -- reason`.' },
  },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const isDirective = /^\s*eslint-disable/.test(comment.value);
          if (isDirective && !/\s--\s+\S/.test(comment.value))
            context.report({ loc: comment.loc, messageId: 'missing' });
        }
      },
    };
  },
};

/** The rules that only this house has. */
export const house = { rules: { 'disable-with-reason': disableWithReason } };
