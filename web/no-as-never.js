/** `as never` fits everything, as `any` does. */
const noAsNever = {
  create: (context) => ({
    TSAsExpression(node) {
      if (node.typeAnnotation.type === "TSNeverKeyword") {
        context.report({ node, message: "`as never` fits everything, as `any` does." });
      }
    },
  }),
};

export default { meta: { name: "console" }, rules: { "no-as-never": noAsNever } };
